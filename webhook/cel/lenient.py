"""Expressions as Kyverno evaluates them: `orValue` takes what is no optional for a value that is there.

Kubernetes did so up to cel-go 0.27, and refuses since; Kyverno has kept it (`OrValueCompatEnvOptions` in its
`pkg/cel/compiler`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from webhook.cel.tree import Call, Node, Tree, rebuilt

OR_VALUE: Final = "orValueOfAny"
"""The `orValue` of what the checker does not know for an optional."""


def lenient(tree: Tree) -> Tree:
    """Give the tree with every such `orValue` made lenient."""

    def changed(node: Node) -> Node:
        node = rebuilt(node, changed)
        if isinstance(node, Call) and node.function == "orValue" and node.target is not None:
            known = tree.type_of(node.target).startswith("optional_type")
            return node if known else replace(node, function=OR_VALUE)
        return node

    return replace(tree, root=changed(tree.root))
