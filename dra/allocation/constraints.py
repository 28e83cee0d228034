"""``matchAttribute`` and ``distinctAttribute`` while devices come and go.

A constraint is told of every device that the search takes (``add``, which may
refuse it, or raise AllocationError where a derived attribute has no value) and gives
up again (``remove``, always the last one added that it applies to).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Final, NamedTuple, Protocol

from dra.allocation.derived import derived_attribute
from dra.allocation.features import Features
from dra.allocation.quirks import Quirk
from dra.allocation.request import Ask, Plan
from dra.allocation.views import Candidate
from dra.objects import Constraint, Device, DeviceAttribute

type Value = tuple[str, object]
"""One value of an attribute, with its type."""


class Values(NamedTuple):
    """An attribute as a set of values of one type."""

    type: str
    members: frozenset[object]

    def each(self) -> frozenset[Value]:
        return frozenset((self.type, member) for member in self.members)


class Rule(Protocol):
    """One constraint of one claim."""

    attribute: str

    def applies(self, ask: Ask) -> bool: ...

    def add(self, ask: Ask, candidate: Candidate) -> bool: ...

    def remove(self, ask: Ask) -> None: ...

    def state(self) -> Hashable:
        """Equal when the rule will judge every device to come alike."""


def make_rules(
    plan: Plan, features: Features, quirks: Collection[Quirk]
) -> list[tuple[Rule, ...]]:
    """The rules of each claim in their order, for a search that begins."""
    lists = features.list_type_attributes
    return [
        _rules(claim.constraints, lists=lists, quirks=quirks) for claim in plan.claims
    ]


def _rules(
    constraints: Sequence[Constraint], *, lists: bool, quirks: Collection[Quirk]
) -> tuple[Rule, ...]:
    rules: list[Rule] = []
    for constraint in constraints:
        names = frozenset(constraint.requests or ())
        if constraint.match_attribute is not None:
            narrow = Quirk.MATCH_STAYS_NARROW in quirks
            rules.append(
                MatchLists(names, constraint.match_attribute, stays_narrow=narrow)
                if lists
                else Match(names, constraint.match_attribute)
            )
        elif constraint.distinct_attribute is not None:
            name = constraint.distinct_attribute
            rules.append(
                ForgetfulDistinct(names, name, lists=lists)
                if Quirk.DISTINCT_FORGETS in quirks
                else Distinct(names, name, lists=lists)
            )
    return tuple(rules)


def concerns(constraint: Constraint, ask: Ask) -> bool:
    """Whether a constraint applies to a request or the alternative of one."""
    return _is_named(ask, constraint.requests or ())


def is_constrained(ask: Ask, constraints: Iterable[Constraint]) -> bool:
    """Whether one of the constraints applies to a request."""
    return any(concerns(constraint, ask) for constraint in constraints)


def _is_named(ask: Ask, names: Collection[str]) -> bool:
    return not names or ask.parent in names or ask.result_name in names


def find_attribute(device: Device, driver: str, name: str) -> DeviceAttribute | None:
    """The attribute ``domain/name``: as spelled, else unqualified if it is the driver's."""
    attributes = device.attributes
    if not attributes:
        return None
    found = attributes.get(name)
    if found is not None:
        return found
    domain, slash, identifier = name.partition("/")
    if slash and domain == driver:
        return attributes.get(identifier)
    return None


def attribute_for(
    ask: Ask, candidate: Candidate, name: str, *, lists: bool
) -> DeviceAttribute | None:
    """The attribute as a constraint sees it when ``ask`` gets the device.

    What the request derives comes before what the driver publishes. Raises
    AllocationError.
    """
    found = derived_attribute(ask, candidate, name, lists=lists)
    if found is None:
        found = find_attribute(candidate.device, candidate.id.driver, name)
    return found


def scalar(attribute: DeviceAttribute) -> tuple[str, object] | None:
    """Type and value of a scalar attribute, None for a list or no value at all."""
    if attribute.int_ is not None:
        return "int", attribute.int_
    if attribute.bool_ is not None:
        return "bool", attribute.bool_
    if attribute.string is not None:
        return "string", attribute.string
    if attribute.version is not None:
        return "version", attribute.version
    return None


def value_set(attribute: DeviceAttribute) -> Values | None:
    """The attribute as a set; a list that is not empty wins over a scalar.

    None for no value at all.
    """
    lists: tuple[tuple[str, Sequence[object] | None], ...] = (
        ("int", attribute.ints),
        ("bool", attribute.bools),
        ("string", attribute.strings),
        ("version", attribute.versions),
    )
    for type_, members in lists:
        if members:
            return Values(type_, frozenset(members))
    single = scalar(attribute)
    return None if single is None else Values(single[0], frozenset({single[1]}))


class _Rule:
    def __init__(self, requests: frozenset[str], attribute: str) -> None:
        self.requests = requests
        self.attribute = attribute

    def applies(self, ask: Ask) -> bool:
        return _is_named(ask, self.requests)


class Match(_Rule):
    """All devices have the same scalar value; the first one decides which."""

    def __init__(self, requests: frozenset[str], attribute: str) -> None:
        super().__init__(requests, attribute)
        self.count = 0
        self.value: tuple[str, object] | None = None

    def add(self, ask: Ask, candidate: Candidate) -> bool:
        if not self.applies(ask):
            return True
        found = attribute_for(ask, candidate, self.attribute, lists=False)
        if found is None:
            return False
        value = scalar(found)
        if self.count == 0:
            self.value = value
        elif value is None or value != self.value:
            return False
        self.count += 1
        return True

    def remove(self, ask: Ask) -> None:
        if self.applies(ask):
            self.count -= 1

    def state(self) -> Hashable:
        return (self.value,) if self.count else ()

    def values_of(self, ask: Ask, candidate: Candidate) -> frozenset[Value]:
        """The scalar that is compared, as a set; empty for a device without one.

        Such a device can be the only one if it has the attribute at all.
        """
        found = attribute_for(ask, candidate, self.attribute, lists=False)
        value = None if found is None else scalar(found)
        return frozenset() if value is None else frozenset({value})

    def narrowed(self) -> frozenset[Value] | None:
        """What devices to come may agree on; None while there is no device yet."""
        if not self.count:
            return None
        return frozenset() if self.value is None else frozenset({self.value})


class MatchLists(_Rule):
    """All devices have at least one value in common."""

    def __init__(
        self, requests: frozenset[str], attribute: str, *, stays_narrow: bool
    ) -> None:
        super().__init__(requests, attribute)
        self.stays_narrow = stays_narrow
        self.common: list[Values] = []
        self.narrowest: Values | None = None

    def add(self, ask: Ask, candidate: Candidate) -> bool:
        if not self.applies(ask):
            return True
        found = attribute_for(ask, candidate, self.attribute, lists=True)
        values = None if found is None else value_set(found)
        if values is None:
            return False
        if self.common:
            before = self.common[-1]
            if self.stays_narrow and self.narrowest is not None:
                before = self.narrowest
            if before.type != values.type:
                return False
            values = Values(values.type, before.members & values.members)
            if not values.members:
                return False
        self.common.append(values)
        self.narrowest = values
        return True

    def remove(self, ask: Ask) -> None:
        if self.applies(ask):
            self.common.pop()

    def state(self) -> Hashable:
        return self.common[-1] if self.common else None

    def values_of(self, ask: Ask, candidate: Candidate) -> frozenset[Value]:
        """The values of which one has to be common; empty for a device without any."""
        found = attribute_for(ask, candidate, self.attribute, lists=True)
        values = None if found is None else value_set(found)
        return frozenset() if values is None else values.each()

    def narrowed(self) -> frozenset[Value] | None:
        """As in :class:`Match`."""
        return self.common[-1].each() if self.common else None


class Distinct(_Rule):
    """No two devices have a value in common; different types never do."""

    def __init__(
        self, requests: frozenset[str], attribute: str, *, lists: bool
    ) -> None:
        super().__init__(requests, attribute)
        self.lists = lists
        self.taken: list[Values] = []

    def add(self, ask: Ask, candidate: Candidate) -> bool:
        if not self.applies(ask):
            return True
        values = self._values(ask, candidate)
        if values is None or any(_overlap(values, other) for other in self.taken):
            return False
        self.taken.append(values)
        return True

    def remove(self, ask: Ask) -> None:
        if self.applies(ask):
            self.taken.pop()

    def state(self) -> Hashable:
        return frozenset(self.taken)

    def held(self) -> Collection[Values]:
        """The values of the devices so far."""
        return self.taken

    def values_of(self, ask: Ask, candidate: Candidate) -> frozenset[Value]:
        """The values that no other device may have, :data:`ALONE` for a device that
        can only be the first one; empty for one that cannot be had."""
        values = self._values(ask, candidate)
        if values is None:
            return frozenset()
        return frozenset({ALONE}) if values is _NO_VALUE else values.each()

    def _values(self, ask: Ask, candidate: Candidate) -> Values | None:
        found = attribute_for(ask, candidate, self.attribute, lists=self.lists)
        if found is None:
            return None
        if self.lists:
            return value_set(found) or _NO_VALUE
        single = scalar(found)
        return (
            _NO_VALUE if single is None else Values(single[0], frozenset({single[1]}))
        )


class ForgetfulDistinct(Distinct):
    """The same as the 1.36 scheduler does it: one value remembered per request."""

    def __init__(
        self, requests: frozenset[str], attribute: str, *, lists: bool
    ) -> None:
        super().__init__(requests, attribute, lists=lists)
        self.last: dict[str, Values] = {}

    def add(self, ask: Ask, candidate: Candidate) -> bool:
        if not self.applies(ask):
            return True
        values = self._values(ask, candidate)
        if values is None:
            return False
        if any(_overlap(values, other) for other in self.last.values()):
            return False
        self.last[ask.parent] = values
        return True

    def remove(self, ask: Ask) -> None:
        if self.applies(ask):
            self.last.pop(ask.parent, None)

    def state(self) -> Hashable:
        return frozenset(self.last.items())

    def held(self) -> Collection[Values]:
        return self.last.values()


ALONE: Final[Value] = ("", None)
_NO_VALUE = Values("", frozenset())
"""An attribute without a value, or a list when lists are off: alone or not at all."""


def _overlap(new: Values, other: Values) -> bool:
    return new is _NO_VALUE or (
        new.type == other.type and not new.members.isdisjoint(other.members)
    )
