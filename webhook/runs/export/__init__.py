"""Our policies as Kubernetes' own kinds: a ValidatingAdmissionPolicy, a MutatingAdmissionPolicy, and their bindings."""
