"""Expressions as Kyverno evaluates them: `orValue` takes what is no optional for a value that is there.

Kubernetes did so up to cel-go 0.27, and refuses since; Kyverno has kept it (`OrValueCompatEnvOptions` in its
`pkg/cel/compiler`).
"""

from __future__ import annotations

from dataclasses import replace

from webhook.cel.tree import Call, Node, Tree, rebuilt


def lenient(tree: Tree) -> Tree:
    """Give the tree with every `orValue` made so."""
    return replace(tree, root=_changed(tree.root))


def _changed(node: Node) -> Node:
    node = rebuilt(node, _changed)
    if isinstance(node, Call) and node.function == "orValue" and node.target is not None:
        return replace(node, function="orValueOfAny")
    return node
