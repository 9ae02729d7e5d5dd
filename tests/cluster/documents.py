"""A policy and an exception to it, as people apply them."""

POLICY = """
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: no-latest}
spec:
  title: Images have a version
  severity: high
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE, UPDATE]}
  validations:
  - name: tag
    forEach: {in: object.spec.containers, as: container}
    expression: "!container.image.endsWith(':latest')"
    message: the image has no version
"""
EXCEPTION = """
apiVersion: cozyguard.io/v1alpha1
kind: PolicyException
metadata: {name: log-image}
spec:
  policies: [{name: no-latest, rules: [tag]}]
  match: {names: [web]}
  owner: platform team
  reason: the image is pinned by the registry
  expiresAt: "2099-12-31T00:00:00Z"
"""
