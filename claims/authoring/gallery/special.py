"""Recipes for what claims may ask beside devices: shares, configuration, tolerations, access."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from claims.authoring.choices import (
    capacity_choices,
    namespace_choices,
    rounded,
    taint_choices,
)
from claims.authoring.choices.capacities import CapacityChoice, Offer
from claims.authoring.choices.words import counted, listed
from claims.authoring.gallery import documents
from claims.authoring.gallery.documents import devices, request, slug
from claims.authoring.gallery.examples import Draft
from claims.authoring.gallery.scene import Scene
from claims.authoring.gallery.simple import MOST_RESULTS, claim_draft, label_of
from dra import quantity
from dra.errors import QuantityError
from dra.objects import DeviceCapacity, OpaqueConfig

_PARTS = 8
"""Of a capacity without a policy an eighth is asked for."""


# --- shares ----------------------------------------------------------------------


def share(scene: Scene) -> Iterator[Draft]:
    """The least that devices give of each of their capacities."""
    if not scene.features.consumable_capacity:
        return
    for seen in scene.classes:
        if not seen.shareable or len(seen.drivers) > 1:
            continue
        amounts: dict[str, str] = {}
        for choice in capacity_choices(scene.snapshot, seen.ask(), scene.features):
            offer = _shared(choice)
            least = _least(offer.capacity) if offer else ""
            if least:
                amounts[choice.name] = least
        if not amounts:
            continue
        said = listed([f"{amount} of {name}" for name, amount in amounts.items()])
        yield claim_draft(
            f"share:{seen.name}",
            f"A share of {seen.name}: {said}",
            f"Takes {said} of one device; other claims can have the rest.",
            f"share-{seen.name}",
            devices(request(label_of(seen), seen.name, capacity={"requests": amounts})),
            seen,
            "sharing",
        )


def _shared(choice: CapacityChoice) -> Offer | None:
    return next((offer for offer in choice.offers if offer.shareable), None)


def _least(capacity: DeviceCapacity) -> str:
    """The smallest amount that the policy gives as it is; "" where there is none."""
    policy = capacity.request_policy
    if policy is None:
        return _part(capacity)
    limits = policy.valid_range
    candidates = [limits.min if limits else None, *(policy.valid_values or ())]
    for amount in (*candidates, policy.default):
        if amount is None or not _is_amount(str(amount)):
            continue
        found = rounded(capacity, amount)
        if found.consumes and not found.changed:
            return str(amount)
    return ""


def _is_amount(text: str) -> bool:
    try:
        return quantity.parse(text) > quantity.ZERO
    except QuantityError:
        return False


def _part(capacity: DeviceCapacity) -> str:
    """An eighth in whole units, at least one."""
    try:
        total = quantity.read(capacity.value)
    except QuantityError:
        return ""
    if total.value() < 1:
        return ""
    part = max(1, total.value() // _PARTS)
    return str(quantity.Quantity.of(part, total.format))


# --- taints, admin access --------------------------------------------------------------


def toleration(scene: Scene) -> Iterator[Draft]:
    """A taint that is there now and keeps claims off devices of the class."""
    for seen in scene.classes:
        for taint in taint_choices(scene.snapshot, seen.ask(), scene.features):
            if not taint.prevents or not taint.matching:
                continue
            words = f"{taint.key}={taint.value}" if taint.value else taint.key
            yield claim_draft(
                f"toleration:{seen.name}",
                f"A device of {seen.name} in spite of the taint {words}",
                f"The taint keeps new claims off {counted(taint.matching)} of the class; "
                "a claim with this toleration can have them all the same.",
                f"{label_of(seen)}-tolerating",
                devices(
                    request(
                        label_of(seen), seen.name, tolerations=[dict(taint.toleration)]
                    )
                ),
                seen,
                "taints",
            )
            break


def admin_access(scene: Scene) -> Iterator[Draft]:
    """All devices of a node for a monitor, in a namespace that may."""
    if not scene.features.admin_access:
        return
    namespace = next((n.name for n in namespace_choices(scene.snapshot) if n.admin), "")
    if not namespace:
        return
    for seen in scene.classes:
        fields: dict[str, Any] = {"adminAccess": True}
        if 1 < seen.most <= MOST_RESULTS:
            fields = {"allocationMode": "All", **fields}
        wanted = devices(request(label_of(seen), seen.name, **fields))
        which = "All devices" if "allocationMode" in fields else "A device"
        yield Draft(
            code=f"admin:{seen.name}",
            title=f"Admin access to {seen.name}",
            sentence=f"{which} of a node for a monitor, in use or not; nobody loses one. "
            f"Only in a namespace that is labelled for it, as {namespace} is.",
            documents=(
                documents.claim(
                    slug(f"{label_of(seen)}-monitor"), wanted, namespace=namespace
                ),
            ),
            needs=(wanted,),
            tags=("admin access",),
            drivers=seen.drivers,
        )


# --- configuration ----------------------------------------------------------------------


def config(scene: Scene) -> Iterator[Draft]:
    """What somebody in this cluster already tells a driver."""
    known = _configs(scene)
    for driver in sorted(known):
        opaque, origin = known[driver]
        for seen in sorted(scene.classes, key=lambda c: c.configured):
            if seen.drivers != (driver,):
                continue
            name = label_of(seen)
            entry = {
                "requests": [name],
                "opaque": {"driver": driver, "parameters": opaque.parameters},
            }
            yield claim_draft(
                f"config:{driver}",
                f"Configuration for {driver}",
                f"The driver gets parameters with the device, here those of {origin}. "
                "What they mean is for the driver to say.",
                f"{name}-configured",
                devices(request(name, seen.name), config=[entry]),
                seen,
                "config",
            )
            break


def _configs(scene: Scene) -> dict[str, tuple[OpaqueConfig, str]]:
    """Parameters by driver, and where they are: of classes first, then of claims."""
    found: dict[str, tuple[OpaqueConfig, str]] = {}
    snapshot = scene.snapshot
    for name in sorted(snapshot.classes):
        for of_class in snapshot.classes[name].spec.config or ():
            _note(found, of_class.opaque, f"the class {name}")
    for key in sorted(snapshot.templates):
        spec = snapshot.templates[key].spec.spec
        for entry in spec.devices.config or ():
            _note(found, entry.opaque, f"the template {'/'.join(key)}")
    for key in sorted(snapshot.claims):
        for entry in snapshot.claims[key].spec.devices.config or ():
            _note(found, entry.opaque, f"the claim {'/'.join(key)}")
    return found


def _note(
    found: dict[str, tuple[OpaqueConfig, str]], opaque: OpaqueConfig | None, origin: str
) -> None:
    if opaque is None or not isinstance(opaque.parameters, dict):
        return
    # What cannot be written down again is no example.
    try:
        msgspec.json.encode(opaque.parameters)
    except (TypeError, ValueError, RecursionError):
        return
    found.setdefault(opaque.driver, (opaque, origin))
