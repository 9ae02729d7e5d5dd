"""Text → checked tree: the CEL library parses and checks, and what it judges otherwise than Kubernetes is put right.

Some forms the checker cannot know are handed to it in a form of the same length that it does know, so
that every position stays what it was: `Object.spec{…}` as a message of a plain name, `exists_one` with
two variables as `existsOne`, `sortBy` as `map`. What is too deep for the library's parser, and what has a
type that its checker cannot know, is handed to it in parts (`cuts.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from google.protobuf.message import DecodeError

from webhook.cel import checks
from webhook.cel.cuts import parts
from webhook.cel.decode import decode
from webhook.cel.environment import environment, is_plain
from webhook.cel.errors import ExpressionError, ExpressionErrors
from webhook.cel.faults import DEPTH, TOO_DEEP, faults
from webhook.cel.graft import graft
from webhook.cel.macros import restore
from webhook.cel.tree import Call, Const, Loop, MapNode, Node, Tree, depth, line_and_column, walk

if TYPE_CHECKING:
    from cel_expr_python import cel

_OBJECT: Final = re.compile(r"\bObject(?:_\w+)*")
_REWRITTEN: Final = re.compile(r"\b(?:Object|exists_one|sortBy)\b")
_PARTED: Final = re.compile(
    r"\bsortBy\b|\bhas\s*\(\s*(?:variables|lookups)\s*\.\s*\w+\s*\)|\b(?:variables|lookups)\s*\.\s*\?"
)
_HALF: Final = re.compile(r"[\ud800-\udfff]")
_WORD: Final = re.compile(r"\w+")
_KEPT: Final = 1024
"""Expressions that are remembered: of the bundled policies' expressions, half are there twice."""


def compile_expression(text: str, names: Mapping[str, str]) -> Tree:
    """Parse and check one expression that may read `names` (name → CEL type; `variables.x` is one name).

    Raises ExpressionErrors with every fault that was found, as Kubernetes would find them.
    """
    if half := _HALF.search(text):
        raise ExpressionErrors(
            (ExpressionError(*line_and_column(text, half.start()), "half a character, a surrogate"),)
        )
    words = frozenset(_WORD.findall(text))
    read = tuple((name, type_) for name, type_ in names.items() if name.rpartition(".")[2] in words)
    with suppress(ExpressionErrors):  # what is wrong is told with all names that there are to choose from
        return _known(text, read)
    return _tree(text, names, in_words=True)


@lru_cache(maxsize=_KEPT)
def _known(text: str, names: tuple[tuple[str, str], ...]) -> Tree:
    """Compile an expression for all who write the same text and mean the same names by it."""
    return _tree(text, dict(names), in_words=False)


def _tree(text: str, names: Mapping[str, str], *, in_words: bool) -> Tree:
    """Compile an expression in one piece, where the library can; `in_words` says that it has a fault to be told."""
    tree = None
    if not _PARTED.search(text):
        parsing = in_words or _REWRITTEN.search(text)
        try:
            tree = _checked(text, names, _parse(text, names) if parsing else None)
        except ExpressionErrors as error:
            if error.errors != (TOO_DEEP,):
                raise
    tree = tree or _joined(text, names)
    if found := checks.of_values(tree):
        raise ExpressionErrors(found)
    return tree


def _joined(text: str, names: Mapping[str, str]) -> Tree:
    """Compile an expression part by part."""
    trees: dict[str, Tree] = {}
    types = dict(names)
    found: list[ExpressionError] = []
    last = 0
    for part in parts(text):
        words = frozenset(_WORD.findall(part.text))
        known = {name: type_ for name, type_ in types.items() if name in names or name in words}
        known |= dict.fromkeys(part.bound, "dyn")
        try:
            tree = _checked(part.text, known, _parse(part.text, known))
        except ExpressionErrors as error:
            found += error.errors
            types[part.name] = "dyn"
        else:
            inner = {name: trees[name] for name in words & trees.keys()}
            trees[part.name] = grafted = graft(tree, inner, part, last)
            types[part.name] = grafted.type
            last = max(grafted.offsets)
    if found or depth(trees[""].root) > DEPTH:
        raise ExpressionErrors(tuple(sorted(found)) or (TOO_DEEP,))
    return replace(trees[""], text=text)


def _parse(text: str, names: Mapping[str, str]) -> Tree:
    parsed = _compile(environment(), text, text, names, check=False)
    if found := checks.of_names(parsed, names):
        raise ExpressionErrors(found)
    return parsed


def _checked(text: str, names: Mapping[str, str], parsed: Tree | None) -> Tree:
    """Check a text; its `parsed` form is needed only where something has to be rewritten, or said in good words."""
    plain = parsed is None and is_plain(text)
    env = environment(names, _structures(parsed.root) if parsed else {}, plain=plain)
    tree = _compile(env, _checkable(parsed) if parsed else text, text, names, check=True)
    if found := checks.of_names(tree, names):
        raise ExpressionErrors(found)
    return _restored(tree, _sorts(parsed) if parsed else frozenset())


def _compile(env: cel.Env, text: str, original: str, names: Mapping[str, str], *, check: bool) -> Tree:
    try:
        expression = env.compile(text, disable_check=not check)
    except RuntimeError as error:
        raise ExpressionErrors(faults(str(error), original, names, checks.FUNCTION_NAMES)) from None
    try:
        return decode(expression.serialize(), original)
    except DecodeError:  # optMap doubles its target, so a chain of them outgrows what protobuf reads
        raise ExpressionErrors((TOO_DEEP,)) from None


def _checkable(tree: Tree) -> str:
    """Write the text so that the checker knows every form in it; no position moves."""
    text = tree.text
    macros: dict[int, tuple[str, str]] = {}  # by their place: optMap has its target twice
    for node in walk(tree.root):
        start = tree.offsets.get(node.id, 0)
        match node:
            case MapNode(structure=name) if name.startswith("Object."):
                text = text[:start] + name.replace(".", "_") + text[start + len(name) :]
            case Call(function="exists_one", args=(_, _, _)):
                macros[start] = ("exists_one", "existsOne")
            case Call(function="sortBy", args=(_, _)):
                macros[start] = ("sortBy", "map")
    for parenthesis, (name, other) in macros.items():
        start = text.rindex(name, 0, parenthesis)
        text = text[:start] + other.ljust(len(name)) + text[start + len(name) :]
    return text


def _structures(root: Node) -> dict[str, set[str]]:
    """Give the `Object` types an expression writes, under the names the checker gets, with their fields."""
    found: dict[str, set[str]] = {}
    for node in walk(root):
        if isinstance(node, MapNode) and re.match(r"Object\b", node.structure):
            fields = {str(entry.key.value) for entry in node.entries if isinstance(entry.key, Const)}
            found.setdefault(node.structure.replace(".", "_"), set()).update(fields)
    return found


def _restored(tree: Tree, sorts: frozenset[int]) -> Tree:
    """Put the macros back, and say `dyn` where the checker says one of the `Object` types.

    `sorts` are the offsets of `sortBy` calls; such a loop has the type of what it sorts, and is a part by itself.
    """
    folds = frozenset(id_ for id_, offset in tree.offsets.items() if offset in sorts)
    root = restore(tree.root, folds)
    types = {id_: _OBJECT.sub("dyn", type_) for id_, type_ in tree.types.items()}
    for node in walk(root):
        if isinstance(node, Loop) and node.kind == "sort":
            elements, key = types.get(node.range.id, "dyn"), types.get(node.body.id, "dyn")
            types[node.id] = "list(dyn)" if elements == "dyn" != key else elements
    return replace(tree, root=root, types=types)


def _sorts(tree: Tree) -> frozenset[int]:
    return frozenset(
        tree.offsets[node.id]
        for node in walk(tree.root)
        if isinstance(node, Call) and node.function == "sortBy" and len(node.args) == 2
    )
