"""Devices as expressions see them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from dra import quantity
from dra.cel.errors import EvaluationError
from dra.cel.functions.versions import parse as parse_version
from dra.cel.values import DeviceMap, DomainMap, QuantityValue, Value
from dra.errors import QuantityError
from dra.objects import DeviceAttribute, DeviceCapacity


@dataclass(frozen=True, slots=True)
class DeviceInput:
    """What a selector may look at.

    Names are as in the ResourceSlice: without a domain they belong to the
    driver's.
    """

    driver: str = ""
    attributes: Mapping[str, DeviceAttribute] = field(default_factory=dict)
    capacity: Mapping[str, DeviceCapacity] = field(default_factory=dict)
    allow_multiple_allocations: bool = False


_UNSUPPORTED: Final = "unsupported attribute value"


def split_name(name: str, driver: str) -> tuple[str, str]:
    """Domain and identifier of a qualified name: split at the first slash."""
    domain, slash, identifier = name.partition("/")
    return (domain, identifier) if slash else (driver, name)


def attribute_value(attribute: DeviceAttribute, *, lists: bool) -> Value:
    """The CEL value of an attribute.

    Raises :class:`EvaluationError` for a version that cannot be read, for a list
    without the gate, and for no value at all.
    """
    if lists:
        if attribute.ints is not None:
            return attribute.ints
        if attribute.bools is not None:
            return attribute.bools
        if attribute.strings is not None:
            return [clean(item) for item in attribute.strings]
        if attribute.versions is not None:
            return [_version(item) for item in attribute.versions]
    if attribute.int_ is not None:
        return attribute.int_
    if attribute.bool_ is not None:
        return attribute.bool_
    if attribute.string is not None:
        return clean(attribute.string)
    if attribute.version is not None:
        return _version(attribute.version)
    raise EvaluationError(_UNSUPPORTED)


def clean(text: str) -> str:
    """``text`` without halves of characters, which JSON can carry and Go cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join(
            "\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text
        )
    return text


def _version(text: str) -> Value:
    try:
        return parse_version(text)
    except EvaluationError as error:
        raise EvaluationError(f"parse semantic version: {error}") from error


def capacity_value(capacity: DeviceCapacity) -> QuantityValue:
    """The CEL value of a capacity. Raises :class:`EvaluationError`."""
    try:
        return QuantityValue(quantity.read(capacity.value))
    except QuantityError as error:
        raise EvaluationError(str(error)) from error


def _domains[T](
    named: Mapping[str, T], driver: str, what: str, convert: Callable[[T], Value]
) -> DomainMap:
    found = DomainMap()
    for name, raw in named.items():
        try:
            value = convert(raw)
        except EvaluationError as error:
            raise EvaluationError(f"{what} {name}: {error}") from error
        domain, identifier = split_name(name, driver)
        found.setdefault(domain, {})[identifier] = value
    return found


def device_value(device: DeviceInput, *, lists: bool) -> DeviceMap:
    """The variable ``device``.

    Raises :class:`EvaluationError` where the device has a value that CEL cannot
    hold: no expression has an answer for it then.
    """
    driver = clean(device.driver)
    return DeviceMap(
        driver=driver,
        allowMultipleAllocations=device.allow_multiple_allocations,
        attributes=_domains(
            device.attributes,
            driver,
            "attribute",
            lambda attribute: attribute_value(attribute, lists=lists),
        ),
        capacity=_domains(device.capacity, driver, "capacity", capacity_value),
    )


def problem_of(device: DeviceInput, *, lists: bool) -> str | None:
    """Why no expression has an answer for the device, or None."""
    try:
        device_value(device, lists=lists)
    except EvaluationError as error:
        return str(error)
    return None
