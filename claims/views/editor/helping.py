"""What the form offers beside its fields: counts, choices, ready terms."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from claims.authoring import choices
from claims.authoring.choices import Ask, NamespaceChoice
from claims.authoring.class_previews import ClassPreview
from claims.authoring.form import paths
from claims.authoring.previewing import Preview
from claims.authoring.requests import RequestPreview
from claims.views.editor.shapes import AskForm, ConstraintForm, ObjectForm
from dra.allocation import Features
from dra.objects import DeviceTaint, Toleration
from dra.snapshot import Snapshot
from dra.taints import untolerated

MOST_CLASSES: Final = 300
MOST_NAMESPACES: Final = 500
MOST_OFFERS: Final = 3
MOST_TAINTS: Final = 6
MOST_CAPACITIES: Final = 8
MOST_SNIPPETS: Final = 16


@dataclass(frozen=True, slots=True)
class Offer:
    """A button that does ``step``; ``note`` is its title."""

    name: str
    step: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """An entry of a list of proposals."""

    name: str
    note: str


@dataclass(frozen=True, slots=True)
class AskHelp:
    counts: RequestPreview | None
    capacities: Sequence[Offer]
    taints: Sequence[Offer]
    snippets: Sequence[Offer]


@dataclass(frozen=True, slots=True)
class ConstraintHelp:
    list: str
    choices: Sequence[Choice]
    note: str


@dataclass(frozen=True, slots=True)
class Lists:
    """Proposals that all parts of the form share."""

    classes: Sequence[Choice]
    namespaces: Sequence[Choice]
    drivers: Sequence[str]


class Helper:
    """Looks at the devices of one snapshot for one form."""

    def __init__(
        self,
        snapshot: Snapshot,
        features: Features,
        value: Any,
        preview: Preview | None,
        writable: Callable[[str], bool] | None = None,
        of_class: ClassPreview | None = None,
    ) -> None:
        self.snapshot = snapshot
        self.of_class = of_class
        self.writable = writable
        self.features = features
        self.value = value
        self.counts: Mapping[str, RequestPreview] = {
            each.path: each
            for each in (preview.requests if preview else ())
            if each.claim == 0
        }
        self.asks: dict[str, Ask] = {}

    def lists(self) -> Lists:
        classes = choices.class_choices(self.snapshot, self.features)
        namespaces = choices.namespace_choices(self.snapshot, self.writable)
        drivers = {pool.driver for pool in self.snapshot.pools.values()}
        return Lists(
            [Choice(c.name, c.sentence) for c in classes[:MOST_CLASSES]],
            [Choice(n.name, self._note(n)) for n in namespaces[:MOST_NAMESPACES]],
            sorted(drivers),
        )

    def _note(self, namespace: NamespaceChoice) -> str:
        if self.writable is not None and not self.writable(namespace.name):
            return "not given to you"
        return "admin access allowed" if namespace.admin else ""

    def help(self, form: ObjectForm) -> Sequence[Offer]:
        """Put help into every part; what constraints could be added comes back."""
        for request in form.requests:
            for ask in request.asks:
                self._help_ask(ask, form)
        derived = list(_derived(form)) if self.features.derived_attributes else []
        for constraint in form.constraints:
            self._help_constraint(constraint, derived)
        found = {s.index: s for s in self.of_class.selectors} if self.of_class else {}
        for selector in form.selectors:
            selector.help = found.get(selector.entry.index)
        return list(self._constraint_offers(form))

    # --- one request ---

    def _help_ask(self, form: AskForm, whole: ObjectForm) -> None:
        details = paths.get(self.value, paths.parse(form.path))
        ask = Ask.of(details if isinstance(details, dict) else {}, form.key)
        self.asks[form.key] = ask
        known = ask.class_name in self.snapshot.classes
        below = form.path.removeprefix(whole.devices.removesuffix("devices"))
        form.help = AskHelp(
            counts=self.counts.get(below),
            capacities=list(self._capacities(form, ask)) if known else (),
            taints=list(self._taints(form, ask)) if known else (),
            snippets=list(self._snippets(form, ask)) if known else (),
        )

    def _capacities(self, form: AskForm, ask: Ask) -> Iterator[Offer]:
        asked = {amount.name for amount in form.amounts}
        found = choices.capacity_choices(self.snapshot, ask, self.features)
        for choice in found[:MOST_CAPACITIES]:
            if choice.name not in asked:
                step = f"capacity {form.path} {json.dumps([choice.name, choice.start])}"
                yield Offer(choice.name, step, choice.sentence)

    def _taints(self, form: AskForm, ask: Ask) -> Iterator[Offer]:
        # One without a key tolerates everything, and mostly is still to be filled in.
        given = [
            Toleration(t.key.value, t.operator.value, t.value.value, t.effect.value)
            for t in form.tolerations
            if t.key.value
        ]
        found = choices.taint_choices(self.snapshot, ask, self.features)
        for choice in found[:MOST_TAINTS]:
            if not choice.prevents or choice.matching == 0:
                continue
            taint = DeviceTaint(choice.key, choice.value, choice.effect)
            if untolerated([taint], given) is None:
                continue
            step = f"add {form.path}.tolerations {json.dumps(choice.toleration)}"
            name = f"{choice.key}={choice.value}" if choice.value else choice.key
            yield Offer(f"{name}:{choice.effect}", step, choice.sentence)

    def _snippets(self, form: AskForm, ask: Ask) -> Iterator[Offer]:
        last = form.selectors[-1].expression.name if form.selectors else ""
        found = choices.selector_snippets(self.snapshot, ask, self.features)
        for snippet in found[:MOST_SNIPPETS]:
            term = json.dumps(snippet.expression)
            step = f"and {last} {term}" if last else f"add {form.path}.selectors {term}"
            note = f"{snippet.devices:,} of {snippet.of:,}"
            yield Offer(snippet.expression, step, note)

    # --- constraints ---

    def _help_constraint(
        self, form: ConstraintForm, derived: Sequence[tuple[str, str]]
    ) -> None:
        chosen = [each.name for each in form.named if each.chosen]
        found = self._attributes(chosen)
        match = form.kind == "matchAttribute"
        good = [c for c in found if c.good_for_match or not match]
        now = next((c for c in found if c.name == form.attribute.value), None)
        # What a request makes itself comes first, and hides what devices publish.
        made = {
            name: f"made by the request {request}"
            for name, request in derived
            if not chosen or request in chosen or request.partition("/")[0] in chosen
        }
        published = {
            c.name: "; ".join(each.text for each in c.coverage) for c in good or found
        }
        note = _note(now) if now else ""
        if form.attribute.value in made:
            note = f"It is {made[form.attribute.value]}."
        form.help = ConstraintHelp(
            list=f"{form.entry.id}-list",
            choices=[
                Choice(name, text) for name, text in (made | published | made).items()
            ],
            note=note,
        )

    def _attributes(self, names: Sequence[str]) -> list[choices.AttributeChoice]:
        """Attributes over the requests that a constraint names; none means all."""
        asks = [
            ask
            for key, ask in self.asks.items()
            if not names or key in names or key.partition("/")[0] in names
        ]
        return choices.attribute_choices(self.snapshot, asks, self.features)

    def _constraint_offers(self, form: ObjectForm) -> Iterator[Offer]:
        if not form.devices or not form.requests:
            return
        used = {each.attribute.value for each in form.constraints}
        found = self._attributes(())
        good = [c for c in found if c.good_for_match and c.name not in used]
        for choice in good[:MOST_OFFERS]:
            step = f"add {form.devices}.constraints {json.dumps(choice.name)}"
            yield Offer(choice.name.rpartition("/")[2], step, _note(choice))


def _note(choice: choices.AttributeChoice) -> str:
    covered = "; ".join(
        f"{each.request}: {each.text}" for each in choice.coverage if each.request
    )
    parts = [choice.meaning, choice.sentence, f"Published by {covered}."]
    return " ".join(part for part in parts if part)


def _derived(form: ObjectForm) -> Iterator[tuple[str, str]]:
    """Attributes that requests make, each with its request."""
    for request in form.requests:
        for ask in request.asks:
            for derived in ask.derived:
                if derived.name.value:
                    yield derived.name.value, ask.key
