"""``matchAttribute`` and ``distinctAttribute`` over all devices of a claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dra import cel
from dra.allocation.features import Features
from dra.allocation.verify.devices import as_input
from dra.allocation.verify.taken import Taken
from dra.allocation.verify.violations import Code, Violation
from dra.allocation.verify.wants import Wanted
from dra.errors import NotSupportedError
from dra.objects import Constraint, DeviceAttribute


class Values(NamedTuple):
    """The members of an attribute, all of one type; ``type`` is empty for none at all."""

    type: str
    members: frozenset[object]

    def meet(self, other: Values) -> bool:
        return self.type == other.type and bool(self.members & other.members)


def check_constraints(
    wanted: Wanted, taken: Sequence[Taken], features: Features
) -> Iterator[Violation]:
    """Whether every constraint of the claim holds among ``taken``, its results in order."""
    for position, constraint in enumerate(wanted.claim.spec.devices.constraints or ()):
        name = constraint.match_attribute or constraint.distinct_attribute
        if constraint.match_attribute is None and constraint.distinct_attribute is None:
            yield Violation(
                Code.REQUEST_INVALID,
                wanted.name,
                "",
                "",
                f"Constraint #{position} of claim {wanted.name} constrains nothing.",
            )
            continue
        values: list[tuple[Taken, Values]] = []
        for one in taken:
            if not _concerns(constraint, one):
                continue
            try:
                found = _read(one, name or "", features)
            except _UnderivableError as error:
                words = f"has no answer to its derived attribute {name}: {error}"
                yield one.violation(Code.DERIVED_ATTRIBUTE, words)
                continue
            if found is None:
                words = f"does not have the attribute {name} that a constraint compares"
                yield one.violation(Code.CONSTRAINT_BROKEN, words)
            else:
                values.append((one, found))
        if constraint.match_attribute is not None:
            yield from _mismatch(values, name or "")
        else:
            yield from _repetition(values, name or "")


def _concerns(constraint: Constraint, one: Taken) -> bool:
    names = constraint.requests
    return not names or one.want.parent in names or one.want.name in names


def _mismatch(values: Sequence[tuple[Taken, Values]], name: str) -> Iterator[Violation]:
    if len(values) < 2:
        return
    common = values[0][1]
    for one, found in values[1:]:
        if not common.meet(found):
            yield one.violation(
                Code.CONSTRAINT_BROKEN,
                f"does not have {name} in common with the claim's other devices",
            )
            return
        common = Values(found.type, common.members & found.members)


def _repetition(
    values: Sequence[tuple[Taken, Values]], name: str
) -> Iterator[Violation]:
    for position, (one, found) in enumerate(values):
        for other, earlier in values[:position]:
            # Without a value to compare a device can only come first.
            if not found.type or found.meet(earlier):
                yield one.violation(
                    Code.CONSTRAINT_BROKEN,
                    f"does not differ in {name} from the device {other.id}",
                )
                break


class _UnderivableError(Exception):
    """The expression of a derived attribute has no answer for a device."""


def _read(one: Taken, name: str, features: Features) -> Values | None:
    """The attribute as a constraint sees it, None where the device does not have it.

    What the request derives comes before what the driver publishes. Raises
    _UnderivableError.
    """
    lists = features.list_type_attributes
    attribute = _published(one, name)
    for derived in one.want.body.derived_attributes or ():
        if derived.name == name and features.derived_attributes:
            attribute = _derived(one, derived.expression, lists=lists)
    if attribute is None:
        return None
    for kind, members in (
        ("int", attribute.ints),
        ("bool", attribute.bools),
        ("string", attribute.strings),
        ("version", attribute.versions),
    ):
        if lists and members is not None:
            return Values(kind, frozenset(members))
    for kind, value in (
        ("int", attribute.int_),
        ("bool", attribute.bool_),
        ("string", attribute.string),
        ("version", attribute.version),
    ):
        if value is not None:
            return Values(kind, frozenset([value]))
    return None if lists else Values("", frozenset())


def _derived(one: Taken, expression: str, *, lists: bool) -> DeviceAttribute:
    try:
        program = cel.compile(
            expression,
            features=cel.CelFeatures(list_type_attributes=lists),
            environment="stored",
            derived=True,
        )
        given = cel.device_value(as_input(one.found), lists=lists)
        return cel.derive(program, given)
    except cel.CompileError as error:
        raise _UnderivableError(error.message) from error
    except (cel.EvaluationError, NotSupportedError) as error:
        raise _UnderivableError(str(error)) from error


def _published(one: Taken, name: str) -> DeviceAttribute | None:
    """As spelled, else without the domain where that is the driver's."""
    attributes = one.found.device.attributes or {}
    if name in attributes:
        return attributes[name]
    domain, slash, identifier = name.partition("/")
    return attributes.get(identifier) if slash and domain == one.id.driver else None
