"""The message types that expressions read or write: `request`, `namespaceObject`, `JSONPatch`, `Object…`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from google.protobuf import descriptor_pb2, descriptor_pool, struct_pb2, timestamp_pb2

REQUEST: Final = "kubernetes.AdmissionRequest"
NAMESPACE: Final = "kubernetes.Namespace"

# Field names and types of `request` and `namespaceObject`: BuildRequestType and BuildNamespaceType in
# k8s.io/apiserver/pkg/admission/plugin/cel/compile.go. `*` repeats, `%` maps strings to it, a list is one of
# anything. Times have the type that they have there, and as there are strings when they are read.
MESSAGES: Final[Mapping[str, Mapping[str, str]]] = {
    "kubernetes.GroupVersionKind": {"group": "string", "version": "string", "kind": "string"},
    "kubernetes.GroupVersionResource": {"group": "string", "version": "string", "resource": "string"},
    "kubernetes.UserInfo": {"username": "string", "uid": "string", "groups": "string*", "extra": "list%"},
    REQUEST: {
        "kind": "kubernetes.GroupVersionKind",
        "resource": "kubernetes.GroupVersionResource",
        "subResource": "string",
        "requestKind": "kubernetes.GroupVersionKind",
        "requestResource": "kubernetes.GroupVersionResource",
        "requestSubResource": "string",
        "name": "string",
        "namespace": "string",
        "operation": "string",
        "userInfo": "kubernetes.UserInfo",
        "dryRun": "bool",
        "options": "dyn",
    },
    "kubernetes.NamespaceMetadata": {
        "name": "string",
        "generateName": "string",
        "namespace": "string",
        "labels": "string%",
        "annotations": "string%",
        "UID": "string",
        "creationTimestamp": "timestamp",
        "deletionGracePeriodSeconds": "int64",
        "deletionTimestamp": "timestamp",
        "generation": "int64",
        "resourceVersion": "string",
        "finalizers": "string*",
    },
    "kubernetes.NamespaceSpec": {"finalizers": "string*"},
    "kubernetes.NamespaceCondition": {
        "status": "string",
        "type": "string",
        "lastTransitionTime": "timestamp",
        "message": "string",
        "reason": "string",
    },
    "kubernetes.NamespaceStatus": {"phase": "string", "conditions": "kubernetes.NamespaceCondition*"},
    NAMESPACE: {
        "metadata": "kubernetes.NamespaceMetadata",
        "spec": "kubernetes.NamespaceSpec",
        "status": "kubernetes.NamespaceStatus",
    },
    "net.IP": {},  # no messages to Kubernetes, but names of types: `type(x) == net.IP`
    "net.CIDR": {},
    "JSONPatch": {"op": "string", "path": "string", "from": "string", "value": "dyn"},
}

_WELL_KNOWN: Final = {"dyn": "Value", "list": "ListValue", "timestamp": "Timestamp"}
_FILES: Final = (struct_pb2.DESCRIPTOR, timestamp_pb2.DESCRIPTOR)
_Field = descriptor_pb2.FieldDescriptorProto


def pool(structures: Mapping[str, Mapping[str, str]]) -> descriptor_pool.DescriptorPool:
    """Declare the message types; what is dyn is a `google.protobuf.Value` to the library, a time its `Timestamp`."""
    made = descriptor_pool.DescriptorPool()
    for imported in _FILES:
        made.AddSerializedFile(imported.serialized_pb)
    files: dict[str, descriptor_pb2.FileDescriptorProto] = {}
    for full_name, fields in {**MESSAGES, **structures}.items():
        package, _, name = full_name.rpartition(".")
        file = files.setdefault(package, _file(package))
        _message(file.message_type.add(name=name), full_name, fields)
    for file in files.values():
        made.Add(file)
    return made


def _file(package: str) -> descriptor_pb2.FileDescriptorProto:
    return descriptor_pb2.FileDescriptorProto(
        name=f"{package}.proto", package=package, syntax="proto3", dependency=[imported.name for imported in _FILES]
    )


def _message(message: descriptor_pb2.DescriptorProto, full_name: str, fields: Mapping[str, str]) -> None:
    for number, (name, kind) in enumerate(fields.items(), 1):
        repeated = kind[-1] in "*%"
        field = message.field.add(name=name, number=number)
        field.label = _Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL
        if kind.endswith("%"):
            _map_entry(message.nested_type.add(name=f"{name.capitalize()}Entry"), kind[:-1])
            _set_type(field, f"{full_name}.{name.capitalize()}Entry")
        else:
            _set_type(field, kind.rstrip("*"))


def _map_entry(entry: descriptor_pb2.DescriptorProto, kind: str) -> None:
    entry.options.map_entry = True
    for number, (name, type_) in enumerate((("key", "string"), ("value", kind)), 1):
        field = entry.field.add(name=name, number=number, label=_Field.LABEL_OPTIONAL)
        _set_type(field, type_)


def _set_type(field: descriptor_pb2.FieldDescriptorProto, kind: str) -> None:
    if kind in ("string", "bool", "int64"):
        field.type = _Field.Type.Value(f"TYPE_{kind.upper()}")
    else:
        field.type = _Field.TYPE_MESSAGE
        field.type_name = f".google.protobuf.{_WELL_KNOWN[kind]}" if kind in _WELL_KNOWN else f".{kind}"
