"""Rules for the request policy of a capacity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dra.quantity import NANO, Quantity
from dra.validation.causes import Causes, forbidden, invalid, required
from dra.validation.rules import Rule, Scope, each

_OPTIONS_LIMIT: Final = 10
_MOST: Final = Quantity.of(2**63 - 1)


class Panicked(Exception):  # noqa: N818 - it does not leave the package
    """The API server dies on this request: it closes the connection without an answer."""


def check_policy(policy: Any, path: str, capacity: Quantity, scope: Scope) -> Causes:
    """``capacity`` is the value that the policy divides."""
    values, limits = policy.get("validValues"), policy.get("validRange")
    default = policy.get("default")
    if values and limits is not None:
        yield forbidden(
            path,
            'exactly one policy can be specified, cannot specify "validValues" and '
            '"validRange" at the same time',
        )
        return
    kind = "validValues" if values else "validRange"
    if not values and limits is None:
        return
    if default is None:
        yield required(f"{path}.default", f"required when {kind} is defined")
    elif values:
        yield from _values(values, f"{path}.validValues", default, capacity, scope)
    else:
        yield from _range(limits, f"{path}.validRange", default, capacity, scope)


def _values(
    values: list[Quantity],
    path: str,
    default: Quantity,
    capacity: Quantity,
    scope: Scope,
) -> Causes:
    for index in range(1, len(values)):
        if values[index - 1] > values[index]:
            yield invalid(
                f"{path}[{index}]",
                values[index],
                "values must be sorted in ascending order",
            )
    too_many = len(values) > _OPTIONS_LIMIT
    yield from _options(capacity)(values, path, scope)
    if too_many or default not in values:
        yield invalid(
            path, default, "default value is not valid according to the requestPolicy"
        )


def _options(capacity: Quantity) -> Rule:
    def option(value: Quantity, path: str, _scope: Scope) -> Causes:
        if value > capacity:
            yield invalid(
                path, value, f"option is larger than capacity value: {capacity}"
            )

    return each(
        option, at_most=_OPTIONS_LIMIT, key=_whole, shown_key=lambda v: str(_whole(v))
    )


def _range(
    limits: Any, path: str, default: Quantity, capacity: Quantity, scope: Scope
) -> Causes:
    least, most, step = limits.get("min"), limits.get("max"), limits.get("step")
    if least is None:
        yield required(f"{path}.min", "required when validRange is defined")
        return
    # Up to 1.36 a bad default is reported at the bound that it violates.
    at_default = f"{path}.default" if scope.gates.strict else ""
    if least > capacity:
        detail = f"min is larger than capacity value: {capacity}"
        yield invalid(f"{path}.min", least, detail)
    if default < least:
        detail = f"default is less than min: {least}"
        yield invalid(at_default or f"{path}.min", default, detail)
    if most is not None:
        if least > most:
            yield invalid(f"{path}.max", least, f"min is larger than max: {most}")
        if most > capacity:
            detail = f"max is larger than capacity value: {capacity}"
            yield invalid(f"{path}.max", most, detail)
        if default > most:
            detail = f"default is more than max: {most}"
            yield invalid(at_default or f"{path}.max", default, detail)
    if step is None:
        return
    if scope.gates.strict and step.sign <= 0:
        yield invalid(f"{path}.step", step, "must be greater than zero")
        return
    first = least + step
    if first > capacity:
        detail = f"one step {first} is larger than capacity value: {capacity}"
        yield invalid(f"{path}.step", step, detail)
    if scope.gates.strict:
        bounds = {"default": default, "min": least, "max": most, "step": step}
        outside = list(_outside(bounds, path))
        if outside:
            yield from outside
            return
    for value in (default, most):
        if value is not None:
            yield from _on_a_step(value, least, step, f"{path}.step")


def _outside(bounds: Mapping[str, Quantity | None], path: str) -> Causes:
    """What cannot be counted in steps (after 1.36)."""
    for name, bound in bounds.items():
        if bound is None:
            continue
        if bound.sign < 0:
            yield invalid(f"{path}.{name}", bound, "must be greater than or equal to 0")
        elif bound > _MOST:
            yield invalid(f"{path}.{name}", bound, f"must not be larger than {_MOST}")


def _on_a_step(value: Quantity, least: Quantity, step: Quantity, path: str) -> Causes:
    width = _whole(step)
    if width == 0:
        raise Panicked('runtime error: integer divide by zero (step "0" in validation)')
    if _wrapped(_whole(value) - _whole(least)) % width:
        yield invalid(
            path,
            value,
            f"value is not a multiple of a given step ({step}) from ({least})",
        )


def _whole(quantity: Quantity) -> int:
    """Whole units in 64 bits: fractions rounded away from zero, what is too big is lost.

    What Kubernetes does not hold in 64 bits rounds up when it is negative, and
    wraps around in nano units before.
    """
    value = quantity.value()
    if quantity.compact is not None:
        return value if _wrapped(value) == value else 0
    if quantity.sign < 0:
        nanos = _wrapped(quantity.nanos)
        whole = abs(nanos) // NANO * (1 if nanos > 0 else -1)
        return whole + (nanos % NANO != 0)
    return _wrapped(value)


def _wrapped(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63
