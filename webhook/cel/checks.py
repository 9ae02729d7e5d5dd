"""What Kubernetes refuses in an expression and the CEL library's checker does not, or not in words that help."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import isinf
from typing import Final

from webhook.cel.costs import is_constant
from webhook.cel.errors import Budget, CelError, ExpressionError
from webhook.cel.functions import FUNCTIONS
from webhook.cel.functions.format_check import template_faults
from webhook.cel.tree import Call, Const, Ident, ListNode, Loop, MapNode, Node, Select, Tree, children, walk
from webhook.cel.values import Uint
from webhook.cel.values.text import show
from webhook.errors import did_you_mean

_MACROS: Final = frozenset(
    {"all", "exists", "exists_one", "existsOne", "filter", "has", "map", "optFlatMap", "optMap", "sortBy"}
    | {"transformList", "transformMap", "transformMapEntry"}
)
FUNCTION_NAMES: Final = (*FUNCTIONS, *_MACROS)
"""What can be called, for "did you mean"."""

_NOT_LOADED: Final = frozenset({"base64", "cel", "encoders", "math", "proto", "regex"})
"""Libraries of cel-go, or of Kyverno, that Kubernetes does not load."""

_LITERALS: Final[Mapping[str, str]] = {
    "matches": "regular expression",
    "find": "regular expression",
    "findAll": "regular expression",
    **{name: name for name in ("bool", "bytes", "double", "duration", "int", "string", "timestamp", "uint")},
}
"""Functions whose argument is checked when it is a literal: the API server's ASTValidators look at texts, and cel-go
computes conversions of literals when it compiles."""

_QUALIFIERS: Final = (bool, int, Uint, float, str)
"""What a literal in an index can be."""

_SORTABLE: Final = frozenset(
    overload.parameters[1].removeprefix("list<").removesuffix(">")
    for overload in FUNCTIONS["@sortByAssociatedKeys"].overloads
) | {"dyn"}

_MADE: Final = re.compile(r"(?:Object(?:[._]\w+)*|JSONPatch)$")
"""Structures that an expression can make."""

_Fault = tuple[Node, str]


def of_names(parsed: Tree, names: Mapping[str, str]) -> tuple[ExpressionError, ...]:
    """Check a tree without types: functions that Kubernetes does not have."""
    return _errors(parsed, (fault for node in walk(parsed.root) for fault in _name_faults(node, names)))


def of_values(tree: Tree) -> tuple[ExpressionError, ...]:
    """Check a tree with types: literals, and field names that Kubernetes' parser does not read."""
    formatted = {
        inner.id
        for node in walk(tree.root)
        if isinstance(node, Call) and node.function == "format"
        for inner in walk(node)
    }
    faults = (fault for node in walk(tree.root) for fault in _value_faults(tree, node))
    mixtures = (fault for node in walk(tree.root) if node.id not in formatted for fault in _mixtures(tree, node))
    return _errors(tree, (*faults, *mixtures))


def of_object(tree: Tree) -> tuple[ExpressionError, ...]:
    """Check what is to be merged into the object: `Object{…}`, in which each part is called as the field it is for.

    The API server finds the latter when it evaluates (`CheckTypeNamesMatchFieldPathNames`).
    """
    faults = [fault for node in _results(tree.root) for fault in _object_faults(tree, node)]
    return _errors(tree, [*faults, *(fault for node in walk(tree.root) for fault in _part_faults(tree, node))])


def _results(node: Node) -> Iterator[Node]:
    """Give what an expression may come to, as far as it is written out."""
    match node:
        case Call(function="_?_:_", args=(_, one, other)):
            yield from _results(one)
            yield from _results(other)
        case _:
            yield node


def _object_faults(tree: Tree, node: Node) -> Iterator[_Fault]:
    match node:
        case MapNode(structure=name) if name != "Object":
            yield node, f"got {_written(tree, node) or 'a map'}, want Object"
        case Const() | ListNode():
            yield node, "want Object{…}, the part of the object to be merged into it"


def _part_faults(tree: Tree, node: Node) -> Iterator[_Fault]:
    if not isinstance(node, MapNode) or not node.structure.startswith("Object"):
        return
    for entry in node.entries:
        if isinstance(entry.key, Const):
            wanted = f"{_written(tree, node)}.{entry.key.value}"
            for part in _parts(entry.value):
                if (got := _written(tree, part)) != wanted:
                    yield part, f"`{entry.key.value}` is {wanted}, got {got}"


def _parts(node: Node) -> Iterator[MapNode]:
    """Give the `Object` parts that stand next below."""
    if isinstance(node, MapNode) and node.structure.startswith("Object"):
        yield node
    else:
        for child in children(node):
            yield from _parts(child)


def _written(tree: Tree, node: MapNode) -> str:
    """Give the name of a structure as it is written: the checker gets it without dots."""
    start = tree.offsets.get(node.id, 0)
    return tree.text[start : start + len(node.structure)]


def _errors(tree: Tree, faults: Iterable[_Fault]) -> tuple[ExpressionError, ...]:
    return tuple(ExpressionError(*tree.position(node), message) for node, message in faults)


def _name_faults(node: Node, names: Mapping[str, str]) -> Iterator[_Fault]:
    if not isinstance(node, Call) or node.function in FUNCTIONS or not node.function.isidentifier():
        return
    function = node.function
    if isinstance(node.target, Ident) and node.target.name not in names:
        function = f"{node.target.name}.{function}"
    if function.split(".")[0] in _NOT_LOADED and "." in function:
        way_out = "; use a variable of the policy" if function == "cel.bind" else ""
        yield node, f"`{function}` does not exist in Kubernetes{way_out}"
    elif function not in FUNCTIONS and node.function not in _MACROS:
        yield node, f"no function `{function}`{did_you_mean(function, FUNCTION_NAMES)}"


def _value_faults(tree: Tree, node: Node) -> Iterator[_Fault]:
    match node:
        case Const(value=float(value)) if isinf(value):
            yield node, "the number is too big for a double"
        case Ident(name="dyn"):
            yield node, "`dyn` is no type that a value can have"
        case Loop(kind="sort", body=key) if tree.type_of(key) not in _SORTABLE:
            yield key, f"`sortBy` cannot order by {tree.type_of(key)}"
        case Loop(kind="sort", range=elements) if tree.type_of(elements).startswith("map("):
            yield elements, f"`sortBy` sorts lists, got {tree.type_of(elements)}"
        case MapNode(structure=name) if name and not _MADE.match(name):
            yield node, f"`{name}` cannot be made in Kubernetes"
        case Call(function="_[_]" | "_[?_]", args=(_, Const(value=key) as literal)) if not isinstance(key, _QUALIFIERS):
            yield literal, "nothing can be found under such a literal"
        case Call(function="_[_]" | "_[?_]", args=(_, (ListNode() | MapNode()) as literal)) if is_constant(literal):
            yield literal, "nothing can be found under such a literal"
        case Call(function="format", target=Const(value=str(template)), args=(ListNode(optional=absent) as given,)) if (
            not absent
        ):
            for number, message in template_faults(template, list(map(tree.type_of, given.elements))):
                yield node if number is None else given.elements[number], message
        case Call(function=name) if name in _LITERALS and node.args:
            yield from _wrong_literal(node)
        case Select(field=name) if not re.fullmatch(r"[A-Za-z_]\w*", name):
            yield node, f"Kubernetes reads no quoted field names; write `[{name!r}]` for this field"


def _mixtures(tree: Tree, node: Node) -> Iterator[_Fault]:
    """Find elements of another type than the first: `ValidateHomogeneousAggregateLiterals` of cel-go."""
    match node:
        case ListNode():
            optional = [number in node.optional for number in range(len(node.elements))]
            yield from _mixed(tree, zip(node.elements, optional, strict=True))
        case MapNode(structure=""):
            yield from _mixed(tree, ((entry.key, False) for entry in node.entries))
            yield from _mixed(tree, ((entry.value, entry.optional) for entry in node.entries))


def _mixed(tree: Tree, elements: Iterable[tuple[Node, bool]]) -> Iterator[_Fault]:
    first, is_open = "", False
    for node, optional in elements:
        type_ = tree.type_of(node)
        if optional:
            type_ = type_.removeprefix("optional_type(").removesuffix(")") if "(" in type_ else type_
        is_alike = type_.partition("(")[0] == first.partition("(")[0]
        if _is_empty(node) and is_alike:
            continue  # an empty literal has whatever type the others have
        if not first or (is_open and is_alike):
            first, is_open = type_, _is_empty(node)
        if type_ != first:
            yield node, f"elements of one literal must have one type: got {type_} after {first}; write dyn(…)"
            return


def _is_empty(node: Node) -> bool:
    return isinstance(node, ListNode | MapNode) and not children(node)


def _wrong_literal(node: Call) -> Iterator[_Fault]:
    argument = node.args[-1] if node.function != "findAll" else node.args[0]
    regex = _LITERALS[node.function] == "regular expression"
    if not isinstance(argument, Const) or (regex and not isinstance(argument.value, str)):
        return
    function = FUNCTIONS[node.function]
    text = ("",) if regex else ()
    budget = (Budget(),) if function.charges else ()
    try:
        function.implementation(*budget, *text, argument.value)
    except CelError as error:
        yield argument, f"`{show(argument.value)}` is no {_LITERALS[node.function]}: {error}"
