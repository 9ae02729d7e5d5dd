"""Reads the syntax tree that the CEL library hands out into our own nodes."""

from __future__ import annotations

from typing import Any, Final

from google.protobuf import any_pb2

from webhook.cel.syntax import message
from webhook.cel.tree import Call, Const, Entry, Fold, Ident, ListNode, MapNode, Node, Select, Tree
from webhook.cel.values import Uint

_PRIMITIVES: Final = ("dyn", "bool", "int", "uint", "double", "string", "bytes")
_WELL_KNOWN: Final = ("dyn", "dyn", "timestamp", "duration")
_CHECKED: Final = message("CheckedExpr")
_PARSED: Final = message("ParsedExpr")


def decode(serialized: bytes, text: str) -> Tree:
    """Read `Expression.serialize()`: an `Any` with a CheckedExpr, or a ParsedExpr, which has no types."""
    envelope = any_pb2.Any.FromString(serialized)
    checked = envelope.type_url.endswith("CheckedExpr")
    parsed = (_CHECKED if checked else _PARSED).FromString(envelope.value)
    # The library writes maps in an order that differs each time; what is made of a text should not.
    offsets = dict(sorted((position.key, position.value) for position in parsed.source_info.positions))
    types = dict(sorted((typed.key, _type(typed.value)) for typed in parsed.type_map)) if checked else {}
    return Tree(_node(parsed.expr), text, offsets, types)


def _node(expr: Any) -> Node:
    for field, value in expr.ListFields():
        if reader := _READERS.get(field.name):
            node: Node = reader(expr.id, value)
            return node
    raise ValueError(f"expression {expr.id} has no kind")


def _const(id_: int, constant: Any) -> Const:
    field, value = constant.ListFields()[0]
    match field.name:
        case "null_value":
            return Const(id_, None)
        case "uint64_value":
            return Const(id_, Uint(value))
        case _:
            return Const(id_, value)


def _call(id_: int, call: Any) -> Call:
    target = _node(call.target) if call.HasField("target") else None
    return Call(id_, call.function, tuple(map(_node, call.args)), target)


def _structure(id_: int, structure: Any) -> MapNode:
    entries = tuple(
        Entry(
            _node(entry.map_key) if entry.HasField("map_key") else Const(entry.id, entry.field_key),
            _node(entry.value),
            entry.optional_entry,
        )
        for entry in structure.entries
    )
    return MapNode(id_, entries, structure.message_name)


def _fold(id_: int, fold: Any) -> Fold:
    return Fold(
        id_,
        _node(fold.iter_range),
        fold.iter_var,
        fold.iter_var2,
        fold.accu_var,
        _node(fold.accu_init),
        _node(fold.loop_condition),
        _node(fold.loop_step),
        _node(fold.result),
    )


_READERS: Final[dict[str, Any]] = {
    "const_expr": _const,
    "ident_expr": lambda id_, ident: Ident(id_, ident.name),
    "select_expr": lambda id_, select: Select(id_, _node(select.operand), select.field, select.test_only),
    "call_expr": _call,
    "list_expr": lambda id_, items: ListNode(id_, tuple(map(_node, items.elements)), frozenset(items.optional_indices)),
    "struct_expr": _structure,
    "comprehension_expr": _fold,
}


def _type(type_: Any) -> str:
    """Write a type as CEL does: `list(string)`, `map(string, dyn)`, `optional_type(int)`."""
    name, value = next(((field.name, value) for field, value in type_.ListFields()), ("", None))
    return _written(name, value)


def _written(kind: str, value: Any) -> str:
    match kind:
        case "primitive" | "wrapper":
            return _PRIMITIVES[value]
        case "well_known":
            return _WELL_KNOWN[value]
        case "list_type":
            return f"list({_type(value.elem_type)})"
        case "map_type":
            return f"map({_type(value.key_type)}, {_type(value.value_type)})"
        case "abstract_type":
            parameters = ", ".join(map(_type, value.parameter_types))
            return f"{value.name}({parameters})" if parameters else str(value.name)
        case "message_type":
            return str(value)
        case "null":
            return "null_type"
        case "type":
            return f"type({_type(value)})"
        case _:
            return "dyn"
