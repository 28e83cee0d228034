"""The engine's word that an example fits, in a cluster where nothing is in use and now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from claims.authoring.choices.words import listed
from claims.authoring.gallery.examples import Draft, Proof
from dra.allocation import Budget, Features, Fits, GaveUp
from dra.allocation.layout import layout_of
from dra.allocation.placing import Question, schedulable
from dra.allocation.request import with_defaults
from dra.errors import DRAError
from dra.names import DeviceID
from dra.objects import ResourceClaim, read
from dra.snapshot import Snapshot
from dra.usage import NOTHING_IN_USE

STEPS: Final = 20_000
"""Devices that are tried for one example; what takes longer is no example."""
_SHOWN: Final = 4


def emptied(snapshot: Snapshot, features: Features) -> Snapshot:
    """The same cluster with nothing in use."""
    # What nodes see is the same in both: worked out before they part, it serves both.
    layout_of(snapshot, features, (), classic=False)
    return replace(
        snapshot, in_use=NOTHING_IN_USE, device_tables=snapshot.device_tables.apart()
    )


def placed(
    snapshot: Snapshot, draft: Draft, features: Features, likely: Sequence[str]
) -> Fits | GaveUp | None:
    """A node that satisfies the example: one of the ``likely`` ones, else the first.

    None where none does. An example that the engine refuses as a mistake fits nowhere.
    """
    try:
        question = Question(
            snapshot,
            [_claim(place, wanted) for place, wanted in enumerate(draft.needs)],
            features=features,
            budget=Budget(steps=STEPS),
        )
        found = question.fits_on_first_of(likely) if likely else None
        if isinstance(found, Fits):
            return found
        names = draft.node_names
        return question.fits_on_first_of(
            schedulable(snapshot) if names is None else names
        )
    except DRAError:
        return None


def _claim(place: int, wanted: dict[str, Any]) -> ResourceClaim:
    meta = {"name": f"example-{place}", "namespace": "default", "uid": f"{place}"}
    raw = {"kind": "ResourceClaim", "metadata": meta, "spec": {"devices": wanted}}
    return with_defaults(read(raw, ResourceClaim))


def proof_of(empty: Fits, now: Fits | GaveUp | None) -> Proof:
    """``empty`` is where it fits with nothing in use."""
    return Proof(
        node=empty.node_name,
        devices=_devices(empty),
        fits_now=None if isinstance(now, GaveUp) else now is not None,
        now_node=now.node_name if isinstance(now, Fits) else "",
        sentence=_sentence(empty, now),
    )


def _devices(fits: Fits) -> tuple[DeviceID, ...]:
    return tuple(
        DeviceID(result.driver, result.pool, result.device)
        for allocation in fits.allocations
        for result in allocation.devices.results or ()
    )


def _sentence(empty: Fits, now: Fits | GaveUp | None) -> str:
    if isinstance(now, Fits):
        return f"Fits now, for instance {_where(now)}."
    free = f"With nothing in use it fits, for instance {_where(empty)}."
    if now is None:
        return f"Does not fit now: what it could take is in use or unusable. {free}"
    return f"{free} Whether it fits now is not known."


def _where(fits: Fits) -> str:
    names = list(dict.fromkeys(device.device for device in _devices(fits)))
    shown = names[:_SHOWN]
    if len(names) > _SHOWN:
        shown.append(f"{len(names) - _SHOWN:,} more")
    return f"on {fits.node_name} with {listed(shown)}"
