"""Rules for writing the status of a claim."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from dra.validation import formats
from dra.validation.causes import (
    Causes,
    forbidden,
    immutable,
    invalid,
)
from dra.validation.claims import (
    ADMIN_LABEL,
    LIMIT,
    REFERENCES,
    admin_refused,
    request_names,
    request_reference,
)
from dra.validation.dropping import device_id
from dra.validation.parts import (
    CONFIGURATION,
    NETWORK_DATA,
    NODE_SELECTOR,
    TOLERATION,
    binding_conditions,
    conditions,
    conditions_count,
    raw_object,
)
from dra.validation.rules import (
    Rule,
    Scope,
    all_of,
    checked,
    each,
    fields,
    given,
    needed,
    nothing,
    one_of,
    text,
)
from dra.validation.schema import part
from dra.validation.schema.shapes import changes

type _Value = Mapping[str, Any]


def check_status_update(claim: _Value, old: _Value, scope: Scope) -> Causes:
    """Of a claim whose spec is the stored one."""
    status, before = claim.get("status") or {}, old.get("status") or {}
    devices = (claim.get("spec") or {}).get("devices") or {}
    results = _results(status)
    scope = dataclasses.replace(
        scope,
        request_names=request_names(devices),
        allocated=frozenset(map(device_id, results)),
    )
    yield from _RESERVED_FOR(status.get("reservedFor"), "status.reservedFor", scope)
    yield from _DEVICES(status.get("devices"), "status.devices", scope)
    deleted = (claim.get("metadata") or {}).get("deletionTimestamp") is not None
    yield from _reservations(status, before, deleted=deleted)
    yield from _allocation(status, before, scope)


def check_admin_results(
    claim: _Value, old: _Value, labels: Mapping[str, str] | None
) -> Causes:
    """Admin access that was granted before needs no label again."""
    if (labels or {}).get(ADMIN_LABEL) == "true" or any(
        result.get("adminAccess") for result in _results(old.get("status") or {})
    ):
        return
    for index, result in enumerate(_results(claim.get("status") or {})):
        if result.get("adminAccess"):
            field = f"status.allocation.devices.results[{index}].adminAccess"
            yield admin_refused(field)
            return


def _results(status: _Value) -> list[dict[str, Any]]:
    allocation = status.get("allocation") or {}
    results: list[dict[str, Any]] = (allocation.get("devices") or {}).get(
        "results"
    ) or []
    return results


# --- reservations ----------------------------------------------------------------------

_RESERVED_FOR: Final = each(
    fields(
        {
            "resource": needed(nothing),
            "name": needed(nothing),
            "uid": needed(nothing),
        }
    ),
    at_most=256,
    key=lambda consumer: consumer.get("uid", ""),
)


def _reservations(status: _Value, before: _Value, *, deleted: bool) -> Causes:
    consumers = status.get("reservedFor")
    if not consumers:
        return
    if status.get("allocation") is None:
        yield forbidden(
            "status.reservedFor", "may not be specified when `allocated` is not set"
        )
    elif deleted and any(c not in (before.get("reservedFor") or ()) for c in consumers):
        yield forbidden(
            "status.reservedFor",
            "new entries may not be added while `deallocationRequested` or "
            "`deletionTimestamp` are set",
        )


# --- device status -----------------------------------------------------------------------


def _shown_id(device: Any) -> object:
    driver, pool, name, share = device_id(device)
    return {"Driver": driver, "Pool": pool, "Device": name, "ShareID": share}


def _is_allocated(device: Any, path: str, scope: Scope) -> Causes:
    if device_id(device) not in scope.allocated:
        yield invalid(
            path, _shown_id(device), "must be an allocated device in the claim"
        )


_DEVICES: Final[Rule] = each(
    all_of(
        fields(
            {
                "driver": checked(formats.driver_name),
                "pool": checked(formats.pool_name),
                "device": text(formats.dns_label),
                "shareID": given(checked(formats.uid)),
            }
        ),
        _is_allocated,
        fields(
            {
                "conditions": all_of(conditions_count, conditions),
                "data": given(raw_object),
                "networkData": NETWORK_DATA,
            }
        ),
    ),
    key=device_id,
    shown_key=_shown_id,
)

# --- allocation ----------------------------------------------------------------------------


def _tolerations(value: Any, path: str, scope: Scope) -> Causes:
    """Up to 1.36 nobody looked at them here."""
    if scope.gates.strict:
        yield from each(TOLERATION)(value, path, scope)


_RESULT: Final = all_of(
    fields(
        {
            "request": request_reference,
            "driver": checked(formats.driver_name),
            "pool": checked(formats.pool_name),
            "device": text(formats.dns_label),
        }
    ),
    binding_conditions,
    fields({"tolerations": _tolerations, "shareID": given(checked(formats.uid))}),
)
_ALLOCATION: Final = fields(
    {
        "devices": fields(
            {
                "results": each(_RESULT, at_most=LIMIT),
                "config": each(
                    all_of(
                        fields(
                            {
                                "source": needed(one_of("FromClaim", "FromClass")),
                                "requests": REFERENCES,
                            }
                        ),
                        CONFIGURATION,
                    ),
                    at_most=2 * LIMIT,
                ),
            }
        ),
        "nodeSelector": NODE_SELECTOR,
    }
)


def _allocation(status: _Value, before: _Value, scope: Scope) -> Causes:
    """What is set once cannot change; it can only go as a whole."""
    found, stored = status.get("allocation"), before.get("allocation")
    if found is None:
        return
    if stored is None:
        yield from _ALLOCATION(found, "status.allocation", scope)
        return
    changed = changes(_SHAPE, stored, found, "status.allocation")
    if changed:
        yield immutable("status.allocation", found, changed)


_SHAPE: Final = part("ResourceClaim", "status", "allocation")
