"""One review under way: the request as it stands after the mutations so far, and what has been found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from webhook.cel.errors import CelError, NotKnown
from webhook.cel.program import Activation
from webhook.engine import configure, decide, evaluate
from webhook.engine.activation import activate
from webhook.engine.apply import structure_of
from webhook.engine.compile import name_of
from webhook.engine.context import DEFAULT_CONFIGURATION, Context
from webhook.engine.evaluate import EVALUATION_FAILURES, Status, Verdict
from webhook.engine.finding import Explainer
from webhook.engine.match import mismatch
from webhook.engine.mutate import mutate
from webhook.engine.params import params_of
from webhook.engine.policyset import Function, LinkedPolicy, PolicySet
from webhook.engine.teller import Teller
from webhook.model.configuration import PolicyException
from webhook.model.decision import Change, Excused, Finding, Outcome
from webhook.model.policy import Action, Origin, Params, Policy
from webhook.model.request import UPDATE, AdmissionRequest, Object
from webhook.model.story import Phase

_ANNOTATION_LIMIT: Final = 10 * 1024
"""Characters of one audit annotation's value; the API server cuts there too."""

_NONE: Final[frozenset[Action]] = frozenset()
_DENY: Final = frozenset({Action.DENY})
"""What a failed audit annotation, or params that cannot be had, ask for whatever the actions are: as in Kubernetes."""


class Review:
    """Collects what policies say about one request; a step of the pipeline is a method.

    Variables that policies share are computed once: one Activation serves all of them until a
    mutation changes the object.
    """

    def __init__(
        self,
        policies: PolicySet,
        request: AdmissionRequest,
        context: Context,
        *,
        passes: bool = False,
        teller: Teller | None = None,
    ) -> None:
        """Start with nothing found."""
        self.policies = policies
        self.request = request
        self.context = context
        self.passes = passes or teller is not None
        self.findings: list[Finding] = []
        self.changes: list[Change] = []
        self.excused: list[Excused] = []
        self.annotations: dict[str, dict[str, None]] = {}
        self.evaluated: dict[str, None] = {}
        self._failures: list[tuple[Finding, frozenset[Action]]] = []
        self._configured = context.configuration is not DEFAULT_CONFIGURATION
        self._going = _is_going(request)
        self._unbent = not (self._configured or self._going or self.passes)
        self._teller = teller
        self._params: Object | None = None
        self._activation = self._activate(request.object)
        self._old_activation: Activation | None = None
        self._left: dict[int, Object] = {}
        self._matched = request
        self._last_explainer: Explainer | None = None

    def mutate(self, policy: LinkedPolicy) -> None:
        """Let one policy change the object; its failures are findings."""
        for _ in self._each_params(policy):
            self._mutate(policy)

    def match_anew(self) -> None:
        """Have policies matched with what has been made of the object, and no longer with what came in.

        Kubernetes finds out what all policies are for before the first of them changes anything.
        """
        self._matched = self.request

    def changed_since(self, policy: LinkedPolicy) -> bool:
        """Has the object changed after a policy, that asks to be called again then, has had its turn.

        The API server calls a MutatingAdmissionPolicy again also after its own change, so that is one for it.
        """
        if policy.policy.reinvocation_policy != "IfNeeded" or id(policy) not in self._left:
            return False
        if policy.policy.origin is Origin.MUTATING_ADMISSION_POLICY:
            return not any(map(decide.refuses, self.findings))
        return self._left[id(policy)] is not self.request.object

    def concerns(self, gates: tuple[Function, ...]) -> bool:
        """May the object be one that policies judge; not where all of these are false, without doubt."""
        return not (gates and self._unbent and evaluate.all_false(gates, self._activation))

    def validate(self, policy: LinkedPolicy) -> None:
        """Let one policy judge the object. Most often it is not for it, or its rules hold: there is nothing to say."""
        for _ in self._each_params(policy):
            self._validate(policy)

    def _mutate(self, policy: LinkedPolicy) -> None:
        obj = self.request.object
        actions = self._actions(policy, Phase.MUTATE)
        if obj is None or not actions:
            return
        structure = partial(structure_of, self.request, self.context.cluster)
        changed, changes, verdicts = mutate(policy, obj, self._activate, structure)
        if self._teller:
            self._teller.changed(changes)
        if changes:
            self.changes += changes
            self.request = self.request.with_object(changed)
            self._activation = self._activate(changed)
        self._left[id(policy)] = changed
        for verdict in verdicts:
            self._find(policy, verdict, actions)

    def _validate(self, policy: LinkedPolicy) -> None:
        if self._unbent and policy.conditions and evaluate.all_false(policy.conditions[:1], self._activation):
            return
        if self._unbent and policy.checks and evaluate.all_hold(policy.checks, self._activation):
            self.evaluated[policy.policy.name] = None
            return
        actions = self._actions(policy, Phase.VALIDATE)
        if not actions:
            return
        for verdict in evaluate.validations(policy, self._activation, passes=self.passes):
            self._find(policy, verdict, actions)
        if policy.policy.audit_annotations and not self._excusing(policy, ""):
            self._annotate(policy)

    def audit_annotations(self) -> dict[str, str]:
        """Return what goes to the audit log: the policies' values, the exceptions used, the failures of Audit rules."""
        annotations = dict(self.annotations)
        if self.excused:
            annotations["exception"] = dict.fromkeys(one.exception.name for one in self.excused)
        own = {key: ", ".join(values)[:_ANNOTATION_LIMIT] for key, values in annotations.items()}
        return own | decide.validation_failures(self._failures)

    def _each_params(self, policy: LinkedPolicy) -> Iterator[None]:
        """Bind `params` to each object that the policy is to be evaluated with; to nothing where it names none."""
        if policy.policy.params is None:
            yield
            return
        shared, old = self._activation, self._old_activation
        before = self.request.object
        for params in self._params_of(policy, policy.policy.params):
            self._params = params
            self._activation, self._old_activation = self._activate(self.request.object), None
            yield
        self._params = None
        unchanged = self.request.object is before
        self._activation, self._old_activation = shared if unchanged else self._activate(self.request.object), old

    def _params_of(self, policy: LinkedPolicy, params: Params) -> Sequence[Object | None]:
        """Look the objects up, for a request that the policy is about; that none can be had is a finding."""
        try:
            if self._mismatch(policy.policy):
                return (None,)
            return params_of(params, self.request, self.context.cluster)
        except CelError as error:
            self._find(policy, evaluate.of_error(error, function="params"), _DENY)
            return ()

    def _actions(self, policy: LinkedPolicy, phase: Phase) -> frozenset[Action]:
        """Return what the policy asks for here; nothing when it is not for this request."""
        one = policy.policy
        if self._teller:
            self._teller.begin(one, phase)
        if self._going and not one.native:
            return self._leave("the object is being deleted")
        actions = one.actions
        if self._configured or not policy.selects_all:
            try:
                actions = self._asked_for(policy, phase)
            except NotKnown as error:
                self._find(policy, evaluate.of_error(error), actions)
                return self._leave(f"it depends on what is not known: {error}")
        return actions if actions and self._conditions_hold(policy, actions) else _NONE

    def _asked_for(self, policy: LinkedPolicy, phase: Phase) -> frozenset[Action]:
        """Test names and selectors, then the configuration. Raises NotKnown when labels are needed and not known.

        Rules are tested even where an exception lets all of them pass, so that it is known what it is good for.
        """
        one = policy.policy
        if not policy.selects_all and (why := self._mismatch(one)):
            return self._leave(why)
        if phase is Phase.MUTATE and (exception := self._excusing(policy, "")):
            return self._leave(f"excepted by {exception.name}")
        return configure.actions(one, self.request, self.context) or self._leave("a mode of the configuration: off")

    def _mismatch(self, policy: Policy) -> str:
        binding = policy.binding_match
        cluster = self.context.cluster
        return mismatch(policy.match, self._matched, cluster) or (
            mismatch(binding, self._matched, cluster) if binding is not None else ""
        )

    def _leave(self, why: str) -> frozenset[Action]:
        if self._teller:
            self._teller.leave(why)
        return _NONE

    def _conditions_hold(self, policy: LinkedPolicy, actions: frozenset[Action]) -> bool:
        evaluate.start(self._activation)
        held = evaluate.conditions(policy, self._activation) if policy.conditions else True
        if self._teller:
            self._teller.conditions(policy, self._activation)
        if isinstance(held, Verdict):
            self._find(policy, held, actions)
            self._leave("a match condition cannot be tested")
            return False
        if held:
            self.evaluated[policy.policy.name] = None
        else:
            self._leave("a match condition is false")
        return held

    def _find(self, policy: LinkedPolicy, verdict: Verdict, actions: frozenset[Action]) -> None:
        """Turn a verdict into a finding, which does not count where an exception lets the rule pass."""
        rule = verdict.rule.validation.name if verdict.rule else verdict.function
        exception = None if verdict.status is Status.PASS else self._excusing(policy, rule)
        outcome, ignored = decide.outcome(
            verdict,
            policy.policy,
            actions,
            existed=self._existed(policy, verdict),
            skip_unknown=self.context.skip_unknown,
        )
        finding = self._explainer(policy).finding(verdict, outcome, ignored=ignored)
        if exception is None:
            self.findings.append(finding)
            self._failures.append((finding, actions))
        elif outcome is not Outcome.SKIP:
            self.excused.append(Excused(finding, exception))
        if self._teller:
            self._teller.judged(self._explainer(policy), verdict, None if exception else finding)

    def _excusing(self, policy: LinkedPolicy, rule: str) -> PolicyException | None:
        """Find the exception that lets a rule pass here; "" asks for the policy as a whole."""
        exceptions = configure.exceptions(policy.policy, self.request, self.context)
        return configure.excusing(policy.policy, rule, exceptions)

    def _explainer(self, policy: LinkedPolicy) -> Explainer:
        """Return the one that has explained the verdict before, if that was about the same."""
        last = self._last_explainer
        if last is None or last.policy is not policy or last.activation is not self._activation:
            last = self._last_explainer = Explainer(policy, self._activation, self.context.most_explained)
        return last

    def _existed(self, policy: LinkedPolicy, verdict: Verdict) -> bool:
        """Does the old object break the same rule, for the same element."""
        old = self.request.old_object
        if (
            verdict.status is not Status.FAIL
            or verdict.rule is None
            or policy.policy.on_existing_violation is not Action.WARN
            or self.request.operation != UPDATE
            or old is None
            or self.context.expired()
        ):
            return False
        if self._old_activation is None:
            params = self._params
            self._old_activation = activate(self.policies, self.request, self.context, obj=old, old=old, params=params)
        evaluate.start(self._old_activation)
        return evaluate.fails(verdict.rule, self._old_activation, verdict)

    def _annotate(self, policy: LinkedPolicy) -> None:
        """Evaluate audit annotations, on a budget of their own; null and blank are left out, as in Kubernetes."""
        activation = self._activation
        obj = activation.object if activation.object is not None else (activation.oldObject or {})
        evaluate.start(activation)
        for annotation in policy.policy.audit_annotations:
            function = name_of("annotation", annotation.key)
            try:
                value = policy.linked.functions[function](activation)
            except EVALUATION_FAILURES as error:
                self._find(policy, evaluate.of_error(error, function=function), _DENY)
                continue
            if isinstance(value, str) and value.strip() and not policy.may_tell_secret(function, obj):
                self.annotations.setdefault(f"{policy.policy.name}/{annotation.key}", {})[value.strip()] = None

    def _activate(self, obj: Object | None) -> Activation:
        old = self.request.old_object
        return activate(self.policies, self.request, self.context, obj=obj, old=old, params=self._params)


def _is_going(request: AdmissionRequest) -> bool:
    """Is the object being deleted; read from the old object, where a client cannot fake it."""
    metadata = (request.old_object or {}).get("metadata")
    return isinstance(metadata, dict) and bool(metadata.get("deletionTimestamp"))
