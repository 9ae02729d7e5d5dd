"""A real kube-apiserver and etcd for tests and for trying things out; `make controlplane` starts one.

There is no controller manager, scheduler or kubelet in it: no pod runs, a namespace does not finish deleting, and
nothing collects garbage.
"""
