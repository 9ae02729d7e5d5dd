"""A rule as a native validation: elements as one `all()`, and the words for people in one message."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from webhook.cel.literal import literal
from webhook.engine.compile import name_of
from webhook.engine.policyset import LinkedPolicy
from webhook.model.policy import Lookup, Reason, Validation
from webhook.model.request import Object
from webhook.runs.export.expressions import Expressions


@dataclass(frozen=True)
class Rule:
    """One rule of a policy. `name` prefixes the names of its expressions."""

    validation: Validation
    name: str
    expressions: Expressions
    title: str

    @property
    def fault(self) -> str:
        """Say why the rule cannot be exported."""
        return self.expressions.fault(self.name, f"{self.name}.each", param=self._param)

    @cached_property
    def guard(self) -> Lookup | None:
        """The lookup that is the param of the native policy which has this rule."""
        return self.expressions.guard(self.name)

    @property
    def used(self) -> list[str]:
        """Name the expressions that the exported rule is made of."""
        names = [self.name, f"{self.name}.each", *self._told]
        return [name for name in names if self.expressions.has(name)]

    def write(self) -> Object:
        """Write the native validation."""
        made: Object = {"expression": self._over_elements("all", self._text(self.name))}
        if message := self._message():
            made["message"] = message
        if computed := self._message_expression():
            made["messageExpression"] = computed
        reason = self.validation.reason
        made["reason"] = (Reason.FORBIDDEN if reason is Reason.UNAUTHORIZED else reason).value
        return made

    @property
    def message_fault(self) -> str:
        """Say why the computed message is left out; "" where it is not, or there is none."""
        name = f"{self.name}.message"
        if not self.expressions.has(name):
            return ""
        if self.expressions.asks_authorizer(name):
            return "its computed message asks `authorizer`, which native messages cannot"
        if _may_tell_secret(self.expressions.policy, name):
            return "its computed message could tell a secret value"
        return self.expressions.fault(name, param=self._param)

    @property
    def _param(self) -> str:
        return self.guard.name if self.guard else ""

    @property
    def _told(self) -> list[str]:
        """Name the expressions that make up the computed message."""
        return [f"{self.name}.message", *self._more()] if self._computes_message else []

    @property
    def _computes_message(self) -> bool:
        return self.expressions.has(f"{self.name}.message") and not self.message_fault

    def _more(self) -> list[str]:
        """Name what is told besides, where it can be told for the object as a whole."""
        names = [] if self.validation.for_each else [f"{self.name}.allowed"]
        return [name for name in names if self._can_tell(name)]

    def _can_tell(self, name: str) -> bool:
        expressions = self.expressions
        return (
            expressions.has(name)
            and not expressions.fault(name, param=self._param)
            and not expressions.asks_authorizer(name)
            and not _may_tell_secret(expressions.policy, name)
        )

    def _message(self) -> str:
        said = self.validation.message.literal or self.title
        return _one_line("; ".join(filter(None, (said, self._fix()))))

    def _message_expression(self) -> str:
        if not self._computes_message:
            return ""
        parts = [self._of_failing(self._text(f"{self.name}.message"))]
        parts += [
            f"'; allowed: ' + ({self._text(name)}).map(one, string(one)).sort().join(', ')" for name in self._more()
        ]
        if fix := self._fix():
            parts.append(literal(_one_line(f"; {fix}")))
        return " + ".join(parts)

    def _fix(self) -> str:
        fix = self.validation.fix.text.literal
        return f"fix: {fix}" if fix else ""

    def _of_failing(self, message: str) -> str:
        """Join the messages of all elements that fail, sorted: Kubernetes goes through a map in any order."""
        if not self.validation.for_each:
            return f"({message})"
        parts = ", ".join((*self._names, f"!({self._text(self.name)})", message))
        return f"{self._range()}.transformList({parts}).sort().join('; ')"

    def _over_elements(self, macro: str, expression: str) -> str:
        if not self.validation.for_each:
            return expression
        return f"{self._range()}.{macro}({', '.join(self._names)}, {expression})"

    @property
    def _names(self) -> tuple[str, str]:
        """Name index (or key) and element, as the rule does or as nothing in it is called."""
        each = self.validation.for_each
        assert each is not None  # noqa: S101 - only asked of rules about elements
        words = set(re.findall(r"\w+", " ".join(map(self._text, self.used))))
        return each.at or _unused("at", words), each.as_ or _unused("element", words)

    def _range(self) -> str:
        """Write what is gone through: null and none count as empty."""
        name = f"{self.name}.each"
        text, type_ = self._text(name), self.expressions.type(name)
        operand = text if re.fullmatch(r"[\w.]+", text) else f"({text})"
        if type_.startswith(("list", "map")):
            return operand
        if type_.startswith("optional_type"):
            return f"{operand}.optMap(found, found == null ? dyn([]) : dyn(found)).orValue(dyn([]))"
        return f"({operand} == null ? dyn([]) : dyn({text}))"

    def _text(self, name: str) -> str:
        return self.expressions.text(name).strip()


def rules_of(policy: LinkedPolicy, expressions: Expressions) -> list[Rule]:
    """Give the rules of a policy."""
    title = policy.policy.title
    return [
        Rule(validation, name_of("validation", index), expressions, title)
        for index, validation in enumerate(policy.policy.validations)
    ]


def _may_tell_secret(policy: LinkedPolicy, name: str) -> bool:
    """Could a text hold what must never be shown: natively nobody looks at the object before it is told."""
    about_secrets = any(
        resource.split("/")[0] in ("secrets", "*") and {"", "*"} & set(rule.api_groups)
        for rule in policy.policy.match.resource_rules
        for resource in rule.resources
    )
    return about_secrets or policy.may_tell_secret(name, {})


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _unused(name: str, words: set[str]) -> str:
    while name in words:
        name += "_"
    return name
