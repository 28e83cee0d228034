"""What the containers of a pod ask of extended resources.

Source of the rules: the validation of a container's resources in Kubernetes 1.36."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dra import quantity
from dra.errors import QuantityError
from dra.quantity import NANO, Quantity
from dra.validation.formats import is_extended_resource_name

CLASS_PREFIX: Final = "deviceclass.resource.kubernetes.io/"
"""With the name of a class behind it: an extended resource that every class has."""


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """What is wrong at ``path``, which begins at the pod's ``spec``; a sentence."""

    path: str
    message: str


def is_extended_resource(name: str) -> bool:
    """Whether ``name`` may be one that DRA serves, of either kind."""
    return name.startswith(CLASS_PREFIX) or is_extended_resource_name(name)


def amounts(pod_spec: Mapping[str, Any]) -> dict[str, int]:
    """How many of each extended resource a pod needs at once, by name, sorted.

    As the scheduler adds up containers: those that run together, or what one init
    container takes before them if that is more. ``pod_spec`` is JSON of any quality; what
    cannot be read asks nothing.
    """
    containers = list(read_containers(pod_spec, []))
    found: dict[str, int] = {}
    for name in sorted({name for c in containers for name in c.amounts}):
        together = most = 0
        for container in containers:
            amount = container.amounts.get(name, 0)
            if container.ends:
                most = max(most, together + amount)
            else:
                together += amount
        found[name] = max(most, together)
    return found


@dataclass(frozen=True, slots=True)
class Container:
    """``index`` counts init containers first. ``names`` are all resources that it asks,
    sorted; ``amounts`` those that may be DRA's and are more than none. ``ends`` tells an
    init container that is no sidecar."""

    index: int
    name: str
    ends: bool
    names: list[str]
    amounts: dict[str, int]
    fields: dict[str, str]


def read_containers(
    pod_spec: Mapping[str, Any], problems: list[FieldProblem]
) -> Iterator[Container]:
    index = 0
    for key in ("initContainers", "containers"):
        listed = pod_spec.get(key)
        for at, raw in enumerate(listed if isinstance(listed, list) else ()):
            path = f"spec.{key}[{at}]"
            if isinstance(raw, dict):
                yield _container(raw, index, path, key == "initContainers", problems)
            index += 1


def _container(
    raw: dict[str, Any],
    index: int,
    path: str,
    is_init: bool,
    problems: list[FieldProblem],
) -> Container:
    resources = raw.get("resources")
    resources = resources if isinstance(resources, dict) else {}
    limits, requests = (_listed(resources, key) for key in ("limits", "requests"))
    asked = {**limits, **requests}  # The API server asks what only a limit names.
    amounts: dict[str, int] = {}
    fields: dict[str, str] = {}
    for name, amount in sorted(asked.items()):
        if not is_extended_resource(name):
            continue
        part = "requests" if name in requests else "limits"
        fields[name] = f"{path}.resources.{part}[{name}]"
        found = _amount(amount, fields[name])
        if isinstance(found, FieldProblem):
            problems.append(found)
        elif found:
            amounts[name] = found
        problems.extend(_against_limit(name, requests, limits, path))
    return Container(
        index=index,
        name=raw["name"] if isinstance(raw.get("name"), str) else "",
        ends=is_init and raw.get("restartPolicy") != "Always",
        names=sorted(asked),
        amounts=amounts,
        fields=fields,
    )


def _listed(resources: dict[str, Any], key: str) -> dict[str, Any]:
    listed = resources.get(key)
    if not isinstance(listed, dict):
        return {}
    return {name: amount for name, amount in listed.items() if amount is not None}


def _amount(raw: Any, path: str) -> int | FieldProblem:
    try:
        amount = _quantity(raw)
    except QuantityError:
        return FieldProblem(path, f"{raw!r} is no quantity; write a whole number.")
    if amount.nanos < 0:
        return FieldProblem(path, f"{raw} is less than 0; write a whole number.")
    whole, rest = divmod(amount.nanos, NANO)
    if rest:
        return FieldProblem(path, f"{raw} is no whole number; devices are not divided.")
    return whole


def _quantity(raw: Any) -> Quantity:
    if not isinstance(raw, (str, int, float)) or isinstance(raw, bool):
        raise QuantityError("no quantity")
    return quantity.read(raw)


def _against_limit(
    name: str, requests: dict[str, Any], limits: dict[str, Any], path: str
) -> Iterator[FieldProblem]:
    """What the API server says of a request that its limit does not match.

    Implicit names are Kubernetes' own, for which a request may be less than its limit.
    """
    implicit = name.startswith(CLASS_PREFIX)
    if name not in requests:
        return
    if name not in limits:
        if not implicit:
            yield FieldProblem(
                f"{path}.resources.limits",
                f"An extended resource needs a limit; add {name} to the limits, with the "
                "same number as in the requests.",
            )
        return
    try:
        asked, limit = _quantity(requests[name]), _quantity(limits[name])
    except QuantityError:
        return
    if asked > limit or (asked != limit and not implicit):
        relation = "be more than" if implicit else "differ from"
        yield FieldProblem(
            f"{path}.resources.requests[{name}]",
            f"The request may not {relation} its limit; make both {limits[name]}.",
        )
