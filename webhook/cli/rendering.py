"""The flags of `cozyguard check` for what other tools render: `--kustomize`, `--helm`, `--values`."""

from __future__ import annotations

from webhook.cli.options import Arguments, Parser
from webhook.errors import UsageError


def add_rendered(parser: Parser) -> None:
    """Offer to render."""
    parser.repeatable(
        "--kustomize", metavar="DIR", help="judge what a kustomization builds; needs kustomize or kubectl"
    )
    parser.repeatable("--helm", metavar="CHART", help="judge what a Helm chart renders; needs helm")
    parser.repeatable("-f", "--values", metavar="FILE", help="with --helm: values of the charts")


def rendered(arguments: Arguments) -> dict[str, bytes]:
    """Render all that is named. Gives what came out, by names that stand where those of files do. Raises UsageError."""
    from webhook.sources.rendered import helm, kustomize  # here: most runs render nothing

    if arguments.values and not arguments.helm:
        raise UsageError("`--values` are those of a chart: name it with `--helm CHART`")
    made = [kustomize(folder) for folder in arguments.kustomize]
    made += [helm(chart, arguments.values, arguments.namespace) for chart in arguments.helm]
    return {one.name: one.content for one in made}
