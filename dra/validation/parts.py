"""Rules for parts that several kinds share: configuration, taints, node selectors, conditions."""

from __future__ import annotations

from typing import Any, Final

from dra.validation import formats
from dra.validation.causes import (
    INVALID,
    Cause,
    Causes,
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    required,
    too_long,
    too_many,
)
from dra.validation.rules import (
    Rule,
    Scope,
    all_of,
    at_most_bytes,
    checked,
    each,
    fields,
    given,
    if_any,
    itself,
    needed,
    nothing,
    one_of,
    text,
)
from dra.validation.schema.scalars import compact_length, fits_floats

RAW_LENGTH: Final = 10 * 1024
"""Bytes of JSON in opaque parameters and in a device's data."""

# --- opaque configuration ------------------------------------------------------------


def raw_object(value: Any, path: str, scope: Scope) -> Causes:
    """A JSON object. Its length counts without white space: the sender's is not known.

    The API server reads every number in it as 64-bit floating point.
    """
    if value is None:
        yield required(path)
    elif not scope.stored and compact_length(value) > RAW_LENGTH:
        yield too_long(path, RAW_LENGTH)
    elif not fits_floats(value):
        message = 'Invalid value: "<value omitted>": error parsing data as JSON: {}'
        yield Cause(path, INVALID, message.format("number out of range"))
    elif not isinstance(value, dict):
        message = 'Invalid value: "<value omitted>": must be a valid JSON object'
        yield Cause(path, INVALID, message)


_OPAQUE: Final = fields(
    {"driver": checked(formats.driver_name), "parameters": raw_object}
)


def _configuration(value: Any, path: str, scope: Scope) -> Causes:
    opaque = value.get("opaque")
    if opaque is None:
        yield required(f"{path}.opaque")
    else:
        yield from _OPAQUE(opaque, f"{path}.opaque", scope)


CONFIGURATION: Final[Rule] = _configuration

# --- taints and tolerations ----------------------------------------------------------

EFFECTS: Final = ("NoExecute", "NoSchedule", "None")
_EFFECT: Final = one_of(*EFFECTS)

TAINT: Final[Rule] = fields(
    {
        "key": text(formats.label_key),
        "value": if_any(text(formats.label_value)),
        "effect": needed(_EFFECT),
    }
)


def _toleration_value(value: Any, path: str, _scope: Scope) -> Causes:
    operator, found = value.get("operator"), value.get("value", "")
    if operator == "Exists" and found:
        yield invalid(f"{path}.value", found, "must be empty for operator `Exists`")
    elif operator == "Equal":
        yield from all_invalid(f"{path}.value", found, formats.label_value(found))


TOLERATION: Final[Rule] = all_of(
    fields({"key": if_any(text(formats.label_key))}),
    _toleration_value,
    fields({"operator": needed(one_of("Equal", "Exists")), "effect": if_any(_EFFECT)}),
)

# --- node selectors --------------------------------------------------------------------


def _requirement(value: Any, path: str, _scope: Scope) -> Causes:
    operator, values = value.get("operator", ""), value.get("values") or []
    match operator:
        case "In" | "NotIn":
            if not values:
                yield required(
                    f"{path}.values",
                    "must be specified when `operator` is 'In' or 'NotIn'",
                )
        case "Exists" | "DoesNotExist":
            if values:
                yield forbidden(
                    f"{path}.values",
                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                )
        case "Gt" | "Lt":
            if len(values) != 1:
                yield required(
                    f"{path}.values",
                    "must be specified single value when `operator` is 'Lt' or 'Gt'",
                )
        case _:
            yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    key = value.get("key", "")
    yield from all_invalid(f"{path}.key", key, formats.label_key(key))
    for index, found in enumerate(values):
        field = f"{path}.values[{index}]"
        yield from all_invalid(field, found, formats.label_value(found))


def _field_requirement(value: Any, path: str, _scope: Scope) -> Causes:
    operator, values = value.get("operator", ""), value.get("values") or []
    if operator not in {"In", "NotIn"}:
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    elif len(values) != 1:
        yield required(
            f"{path}.values",
            "must be only one value when `operator` is 'In' or 'NotIn' "
            "for node field selector",
        )
    key = value.get("key", "")
    if key != "metadata.name":
        yield invalid(f"{path}.key", key, "not a valid field selector key")
        return
    for index, found in enumerate(values):
        field = f"{path}.values[{index}]"
        yield from all_invalid(field, found, formats.dns_subdomain(found))


_TERM: Final = fields(
    {"matchExpressions": each(_requirement), "matchFields": each(_field_requirement)}
)


def _terms(value: Any, path: str, scope: Scope) -> Causes:
    if not value:
        yield required(path, "must have at least one node selector term")
    else:
        yield from each(_TERM)(value, path, scope)


NODE_SELECTOR: Final[Rule] = given(fields({"nodeSelectorTerms": _terms}))

# --- binding conditions ----------------------------------------------------------------


def binding_conditions(value: Any, path: str, scope: Scope) -> Causes:
    """Both lists or none, no name twice, none in both."""
    conditions = value.get("bindingConditions") or []
    failures = value.get("bindingFailureConditions") or []
    yield from _NAMES(value, path, scope)
    yield from _repeated(conditions, f"{path}.bindingConditions")
    seen: set[str] = set()
    for index, name in enumerate(failures):
        field = f"{path}.bindingFailureConditions[{index}]"
        if name in seen:
            yield duplicate(field, name)
        seen.add(name)
        if name in conditions:
            yield invalid(
                field,
                name,
                "bindingFailureConditions must not overlap with bindingConditions",
            )
    if failures and not conditions:
        yield invalid(
            f"{path}.bindingConditions",
            value.get("bindingConditions"),
            "bindingConditions are required to use bindingFailureConditions",
        )
    if conditions and not failures:
        yield invalid(
            f"{path}.bindingFailureConditions",
            value.get("bindingFailureConditions"),
            "bindingFailureConditions are required to use bindingConditions",
        )


_CONDITION_NAMES: Final = each(text(formats.label_key), at_most=4)
_NAMES: Final = fields(
    {
        "bindingConditions": _CONDITION_NAMES,
        "bindingFailureConditions": _CONDITION_NAMES,
    }
)


def _repeated(names: list[str], path: str) -> Causes:
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            yield duplicate(f"{path}[{index}]", name)
        seen.add(name)


# --- conditions and data of a device's status --------------------------------------------

CONDITIONS_LIMIT: Final = 8


def _condition(value: Any, path: str, scope: Scope) -> Causes:
    yield from _CONDITION_START(value, path, scope)
    generation = value.get("observedGeneration", 0)
    if generation < 0:
        yield invalid(
            f"{path}.observedGeneration",
            generation,
            "must be greater than or equal to zero",
        )
    yield from _CONDITION_END(value, path, scope)


_CONDITION_START: Final = fields(
    {"type": text(formats.label_key), "status": one_of("False", "True", "Unknown")}
)
_CONDITION_END: Final = fields(
    {
        "lastTransitionTime": needed(nothing, "must be set"),
        "reason": needed(
            all_of(text(formats.condition_reason), at_most_bytes(1024)), "must be set"
        ),
        "message": at_most_bytes(32 * 1024),
    }
)


def conditions(value: Any, path: str, scope: Scope) -> Causes:
    """Conditions by type. Too many of them hide nothing."""
    seen: set[str] = set()
    for index, condition in enumerate(value or ()):
        kind = condition.get("type", "")
        if kind in seen:
            yield duplicate(f"{path}[{index}].type", kind)
        seen.add(kind)
        yield from _condition(condition, f"{path}[{index}]", scope)


def conditions_count(value: Any, path: str, _scope: Scope) -> Causes:
    if value and len(value) > CONDITIONS_LIMIT:
        yield too_many(path, len(value), CONDITIONS_LIMIT)


NETWORK_DATA: Final[Rule] = given(
    fields(
        {
            "interfaceName": at_most_bytes(256),
            "hardwareAddress": at_most_bytes(128),
            "ips": each(checked(formats.interface_address), at_most=16, key=itself),
        }
    )
)
