"""`kyverno-test.yaml`, and the files that it names: what the command line of Kyverno reads.

The types of `cli.kyverno.io/v1alpha1` (`cmd/cli/kubectl-kyverno/apis/v1alpha1` of github.com/kyverno/kyverno).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, ClassVar, Final, Literal, get_args

from pydantic import Field

from webhook.sources.formats.base import Fault, Mapped, entries, listed, one_of, shown
from webhook.sources.formats.fields import Words
from webhook.sources.formats.user import User

ApiVersion = Literal["cli.kyverno.io/v1alpha1"]
Operation = Literal["CREATE", "UPDATE", "DELETE"]
Object = dict[str, Any]

OPERATION: Final = "request.operation"
"""The one of a row's values that a policy of CEL can tell."""

_PAYLOADS: Final = "is about what is no request to the API server, which is not judged here"
_MOCKS: Final = "stands in for what policies cannot ask here"
_OTHER_KIND: Final = "is about policies of a kind that is not read here"
_RULELESS: Final = "policies of CEL have no such variables, want `request.operation` alone"


class ResourceSpec(Mapped):
    """A resource by all that names it."""

    group: str = ""
    version: str = ""
    kind: str = ""
    namespace: str = ""
    subresource: Literal[""] = ""
    name: Words


class Result(Mapped):
    """One row: what a policy says about some resources."""

    REFUSED: ClassVar = dict.fromkeys(
        (
            *("isImageValidatingPolicy", "isGeneratingPolicy", "isDeletingPolicy"),
            *("generatedResource", "generatedResources", "cloneSourceResource"),
        ),
        _OTHER_KIND,
    )

    policy: Words
    rule: str | None = None
    """Policies of CEL are judged as a whole."""
    kind: str | None = None
    resources: list[Words] = []
    """`name` or `namespace/name`; every resource of the test where none is named."""
    resource_specs: list[ResourceSpec] = []
    operation: Operation | None = None
    result: Literal["pass", "fail", "skip", "warn", "error"]
    patched_resources: Words | None = None
    fail_on_missing_resources: bool | None = None
    """A resource that is not there is a fault here anyway."""
    is_validating_policy: bool | None = None
    is_mutating_policy: bool | None = None
    is_validating_admission_policy: bool | None = None
    is_mutating_admission_policy: bool | None = None


class NamespaceLabels(Mapped):
    """The labels of a namespace."""

    name: Words
    labels: dict[str, str] = {}


class ResourceValues(Mapped):
    """What is said of a policy's request about one resource."""

    name: Words
    values: dict[str, str] = {}

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """Values are variables of rules that are not CEL."""
        yield from _foreign_values(given, "values")


class PolicyValues(Mapped):
    """What is said of a policy's requests."""

    REFUSED: ClassVar = {"rules": _RULELESS}

    name: Words
    resources: list[ResourceValues] = []


class Values(Mapped):
    """What Kyverno calls values, or variables: beside the operation, the namespaces that there are."""

    REFUSED: ClassVar = {"subresources": "is not read here; a PolicyTest has `subresource`"}

    api_version: ApiVersion | None = None
    kind: Literal["Values", "Value"] | None = None
    metadata: Any = None
    global_values: dict[str, str] = {}
    policies: list[PolicyValues] = []
    namespace_selector: list[NamespaceLabels] = []
    namespaces: list[Object] = []

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """Values are variables of rules that are not CEL."""
        yield from _foreign_values(given, "globalValues")
        for index, namespace in entries(given, "namespaces"):
            if not isinstance(namespace.get("metadata"), dict) or not namespace["metadata"].get("name"):
                yield ("namespaces", index), "want a Namespace with a name"


class UserInfo(Mapped):
    """The file that `userinfo` names. Roles say nothing here: policies of CEL cannot read them."""

    api_version: ApiVersion
    kind: Literal["UserInfo"]
    metadata: Any = None
    roles: list[str] = []
    cluster_roles: list[str] = []
    user_info: User


class ContextSpec(Mapped):
    """What policies find besides the request."""

    REFUSED: ClassVar = {"images": _MOCKS}

    resources: list[Object] = []


class Context(Mapped):
    """The file that `context` names."""

    api_version: ApiVersion
    kind: Literal["Context"]
    metadata: Any = None
    spec: ContextSpec


class ClusterResourceSpec(Mapped):
    """What there is in the cluster; `crds` are paths."""

    crds: list[Words] = []
    resources: list[Object] = []


class ClusterResource(Mapped):
    """A file that `clusterResources` names."""

    api_version: ApiVersion
    kind: Literal["ClusterResource"]
    metadata: Any = None
    spec: ClusterResourceSpec


class Test(Mapped):
    """A suite: policies, resources, and what the ones say about the others."""

    REFUSED: ClassVar = {
        **dict.fromkeys(("jsonPayload", "jsonPayloads", "httpPayloads", "envoyPayloads"), _PAYLOADS),
        **dict.fromkeys(("apiCallResponses", "globalContextEntries"), _MOCKS),
        "targetResources": "are changed by policies that change what exists already, which are not read here",
    }

    api_version: ApiVersion
    kind: Literal["Test"]
    metadata: Any = None
    name: str | None = None
    policies: Annotated[list[Words], Field(min_length=1)]
    resources: list[Words] = []
    param_resources: list[Words] = []
    variables: Words | None = None
    values: Values | None = None
    userinfo: Words | None = None
    context: Words | None = None
    exceptions: list[Words] = []
    cluster_resources: list[Words] = []
    results: Annotated[list[Any], Field(min_length=1)]
    """Each is a `Result`, and checked by itself."""

    AT_MOST_ONE: ClassVar = (("variables", "values"),)


def _foreign_values(given: dict[str, Any], name: str) -> Iterator[Fault]:
    values = given.get(name)
    if not isinstance(values, dict):
        return
    if others := sorted(set(values) - {OPERATION}):
        yield (name,), f"{listed(others)}: {_RULELESS}"
    if (operation := values.get(OPERATION)) not in (None, *get_args(Operation)):
        yield (name, OPERATION), f"got {shown(operation)}, want {one_of(list(get_args(Operation)))}"
