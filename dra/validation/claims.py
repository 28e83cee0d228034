"""Rules for the spec of a claim, which is also the spec of a claim template."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from dra.validation import formats
from dra.validation.causes import (
    Cause,
    Causes,
    forbidden,
    invalid,
    not_supported,
    required,
)
from dra.validation.derived import (
    REQUESTS_LIMIT,
    SUBREQUESTS_LIMIT,
    check_derived_attributes,
)
from dra.validation.parts import CONFIGURATION, TOLERATION
from dra.validation.rules import (
    Rule,
    Scope,
    all_of,
    each,
    fields,
    itself,
    needed,
    text,
)
from dra.validation.selectors import SELECTORS

ADMIN_LABEL: Final = "resource.kubernetes.io/admin-access"
LIMIT: Final = REQUESTS_LIMIT
"""Of requests, constraints, configurations, and of references to requests."""

_REQUEST_NAME: Final = text(formats.dns_label)


def _name(entry: Any) -> str:
    name: str = entry.get("name", "")
    return name


# --- references to requests --------------------------------------------------------------


def request_names(devices: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    return {
        _name(request): frozenset(map(_name, request.get("firstAvailable") or ()))
        for request in devices.get("requests") or ()
    }


def request_reference(value: Any, path: str, scope: Scope) -> Causes:
    """``request`` or ``request/subrequest``, both existing."""
    found = value or ""
    parts = found.split("/")
    if len(parts) <= 2:
        for part in parts:
            yield from _REQUEST_NAME(part, path, scope)
        if _refers(parts, scope.request_names):
            return
    yield invalid(
        path,
        found,
        "must be the name of a request in the claim or the name of a request and a "
        "subrequest separated by '/'",
    )


def _refers(parts: list[str], names: Mapping[str, frozenset[str]]) -> bool:
    subrequests = names.get(parts[0])
    if subrequests is None:
        return False
    return len(parts) == 1 or parts[1] in subrequests


REFERENCES: Final[Rule] = each(request_reference, at_most=LIMIT, key=itself)

# --- requests ----------------------------------------------------------------------------


def _count(value: Any, path: str, _scope: Scope) -> Causes:
    mode, count = value.get("allocationMode", ""), value.get("count", 0)
    if mode == "All":
        if count != 0:
            detail = "must not be specified when allocationMode is 'All'"
            yield invalid(f"{path}.count", count, detail)
    elif mode == "ExactCount":
        if count <= 0:
            yield invalid(f"{path}.count", count, "must be greater than zero")
    else:
        yield not_supported(f"{path}.allocationMode", mode, ("All", "ExactCount"))


_DETAILS: Final = all_of(
    fields(
        {
            "deviceClassName": needed(text(formats.dns_subdomain)),
            "selectors": SELECTORS,
        }
    ),
    _count,
    fields({"tolerations": each(TOLERATION)}),
)
_SUBREQUEST: Final = all_of(fields({"name": _REQUEST_NAME}), _DETAILS)
_SUBREQUESTS: Final = each(_SUBREQUEST, at_most=SUBREQUESTS_LIMIT, key=_name)


def _alternatives(value: Any, path: str, scope: Scope) -> Causes:
    exactly, subrequests = value.get("exactly"), value.get("firstAvailable")
    if exactly is not None and subrequests:
        yield invalid(
            path,
            None,
            "exactly one of `exactly` or `firstAvailable` is required, "
            "but multiple fields are set",
        )
    elif subrequests:
        yield from _SUBREQUESTS(subrequests, f"{path}.firstAvailable", scope)
    elif exactly is not None:
        yield from _DETAILS(exactly, f"{path}.exactly", scope)
    else:
        yield required(path, "exactly one of `exactly` or `firstAvailable` is required")


_REQUEST: Final = all_of(fields({"name": _REQUEST_NAME}), _alternatives)

# --- constraints ---------------------------------------------------------------------------


def _attribute(value: Any, path: str, scope: Scope) -> Causes:
    """Up to 1.36, where both are set, only matchAttribute is looked at."""
    strict = scope.gates.strict
    names = [name for name in ("matchAttribute", "distinctAttribute") if name in value]
    for name in names if strict else names[:1]:
        yield from formats.fully_qualified_name(
            value[name], f"{path}.{name}", strict=strict
        )
    if names:
        return
    if scope.gates.consumable_capacity:
        yield required(
            path,
            'exactly one of "matchAttribute" or "distinctAttribute" is required, '
            "but multiple fields are set",
        )
    else:
        yield required(f"{path}.matchAttribute")


_CONSTRAINT: Final = all_of(fields({"requests": REFERENCES}), _attribute)

# --- the whole -------------------------------------------------------------------------------

_DEVICES: Final = fields(
    {
        "requests": each(_REQUEST, at_most=LIMIT, key=_name),
        "constraints": each(_CONSTRAINT, at_most=LIMIT),
        "config": each(
            all_of(fields({"requests": REFERENCES}), CONFIGURATION), at_most=LIMIT
        ),
    }
)


def check_claim_spec(spec: Mapping[str, Any], path: str, scope: Scope) -> Causes:
    """Of a new claim or template; stored specs cannot change."""
    devices = spec.get("devices") or {}
    scope = dataclasses.replace(scope, request_names=request_names(devices))
    yield from _DEVICES(devices, f"{path}.devices", scope)
    yield from check_derived_attributes(devices, f"{path}.devices", scope)


def check_admin_access(
    requests: list[Any] | None, labels: Mapping[str, str] | None
) -> Causes:
    """The first request that asks for admin access outside a namespace that allows it.

    The path is the same for claims and templates, and without ``exactly``.
    """
    if (labels or {}).get(ADMIN_LABEL) == "true":
        return
    for index, request in enumerate(requests or ()):
        if (request.get("exactly") or {}).get("adminAccess"):
            yield admin_refused(f"spec.devices.requests[{index}].adminAccess")
            return


def admin_refused(path: str) -> Cause:
    return forbidden(
        path,
        f"admin access to devices requires the `{ADMIN_LABEL}: true` label on the "
        "containing namespace",
    )
