"""A claim's requests in words: "4 × gpu.nvidia.com, same numaNode". Pure functions."""

from __future__ import annotations

from collections.abc import Iterable

from dra import objects

ALL = "All"


def requests_text(spec: objects.ResourceClaimSpec) -> str:
    """What the claim asks for, requests in order, then its constraints.

    An absent count is 1, as the API server fills in. Selectors are not told: they
    have no short form.
    """
    requests = spec.devices.requests or []
    if not requests:
        return "no requests"
    texts = [_request(request) for request in requests]
    if len(texts) > 1:
        texts = [f"({t})" if t.startswith("first of: ") else t for t in texts]
    names = [request.name for request in requests]
    words = [_constraint(c, names) for c in spec.devices.constraints or []]
    return ", ".join([" + ".join(texts), *(word for word in words if word)])


def _request(request: objects.Request) -> str:
    if request.exactly is not None:
        text = _devices(request.exactly)
        return f"{text} with admin access" if request.exactly.admin_access else text
    if request.first_available:
        return "first of: " + " | ".join(map(_devices, request.first_available))
    return "a request of an unknown kind"


def _devices(request: objects.ExactRequest | objects.SubRequest) -> str:
    name = request.device_class_name or "(no class)"
    if request.allocation_mode == ALL:
        text = f"all {name}"
    elif request.count > 1:
        text = f"{request.count} × {name}"
    else:
        text = name
    wanted = (request.capacity and request.capacity.requests) or {}
    if wanted:
        text += f" ({_listing(f'{_short(k)} {v}' for k, v in sorted(wanted.items()))})"
    return text


def _constraint(constraint: objects.Constraint, names: list[str]) -> str:
    if constraint.match_attribute:
        text = f"same {_short(constraint.match_attribute)}"
    elif constraint.distinct_attribute:
        text = f"different {_short(constraint.distinct_attribute)}"
    else:
        return ""
    concerned = constraint.requests or []
    if not concerned or set(names) <= set(concerned):
        return text
    return f"{text} in {_listing(concerned)}"


def _short(name: str) -> str:
    return name.rpartition("/")[2]


def _listing(words: Iterable[str]) -> str:
    return ", ".join(words)
