"""The messages of `cel/expr/syntax.proto` and `cel/expr/checked.proto` (github.com/google/cel-spec).

Declared here with the fields we read, because no package on PyPI carries them. A map is a repeated pair
on the wire, and is declared as one.
"""

from __future__ import annotations

from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_MESSAGES: Final = """
Constant   1 null_value int64 / 2 bool_value bool / 3 int64_value int64 / 4 uint64_value uint64
           / 5 double_value double / 6 string_value string / 7 bytes_value bytes
Ident      1 name string
Select     1 operand Expr / 2 field string / 3 test_only bool
Call       1 target Expr / 2 function string / 3 args Expr*
List       1 elements Expr* / 2 optional_indices int32*
Entry      1 id int64 / 2 field_key string / 3 map_key Expr / 4 value Expr / 5 optional_entry bool
Struct     1 message_name string / 2 entries Entry*
Fold       1 iter_var string / 2 iter_range Expr / 3 accu_var string / 4 accu_init Expr / 5 loop_condition Expr
           / 6 loop_step Expr / 7 result Expr / 8 iter_var2 string
Expr       2 id int64 / 3 const_expr Constant / 4 ident_expr Ident / 5 select_expr Select / 6 call_expr Call
           / 7 list_expr List / 8 struct_expr Struct / 9 comprehension_expr Fold
Position   1 key int64 / 2 value int32
SourceInfo 4 positions Position*
ParsedExpr 2 expr Expr / 3 source_info SourceInfo
Empty
ListType   1 elem_type Type
MapType    1 key_type Type / 2 value_type Type
Abstract   1 name string / 2 parameter_types Type*
Type       1 dyn Empty / 2 null int64 / 3 primitive int64 / 4 wrapper int64 / 5 well_known int64
           / 6 list_type ListType / 7 map_type MapType / 9 message_type string / 10 type_param string
           / 11 type Type / 12 error Empty / 14 abstract_type Abstract
TypeOf     1 key int64 / 2 value Type
CheckedExpr 3 type_map TypeOf* / 4 expr Expr / 5 source_info SourceInfo
"""
"""A message a paragraph: number, name and type of each field; `*` repeats."""

_PACKAGE: Final = "cozyguard.cel"
_Field = descriptor_pb2.FieldDescriptorProto


def _declare() -> descriptor_pool.DescriptorPool:
    file = descriptor_pb2.FileDescriptorProto(name="syntax.proto", package=_PACKAGE, syntax="proto2")
    for paragraph in _MESSAGES.strip().replace("\n  ", " ").splitlines():
        name, _, fields = paragraph.partition(" ")
        message = file.message_type.add(name=name)
        for field in filter(None, map(str.split, fields.split("/"))):
            _add(message, *field)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool


def _add(message: descriptor_pb2.DescriptorProto, number: str, name: str, kind: str) -> None:
    field = message.field.add(name=name, number=int(number))
    field.label = _Field.LABEL_REPEATED if kind.endswith("*") else _Field.LABEL_OPTIONAL
    kind = kind.rstrip("*")
    if kind[0].isupper():
        field.type = _Field.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{kind}"
    else:
        field.type = _Field.Type.Value(f"TYPE_{kind.upper()}")


_POOL: Final = _declare()


def message(name: str) -> Any:
    """Give the class of a message, `CheckedExpr` or `ParsedExpr`, or of what these are made of."""
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
