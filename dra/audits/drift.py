"""What drivers stopped publishing, or publish with another type than before.

That takes two looks: it is remembered from the moment a pool changes until the
attribute is back or the pool is gone. :class:`Drift` remembers for one process; who
keeps what was published elsewhere uses the functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from dra.audits.codes import Code
from dra.audits.finding import Finding, Subject, counted, finding
from dra.names import PoolKey, qualified_name
from dra.objects import DeviceAttribute
from dra.pools import Pool

_TYPES: Final = {
    "int_": "int",
    "bool_": "bool",
    "string": "string",
    "version": "version",
    "ints": "list of int",
    "bools": "list of bool",
    "strings": "list of string",
    "versions": "list of version",
}

DRIFT_CODES: Final = frozenset({Code.ATTRIBUTE_DROPPED, Code.ATTRIBUTE_RETYPED})

type Types = dict[str, dict[str, str]]
"""The type of each qualified attribute, by device."""
type LostByAttribute = dict[tuple[str, str], Lost]
"""By device and qualified attribute."""


class Lost(NamedTuple):
    """A device's attribute as it was: its type, and the type it has now (or none)."""

    was: str
    now: str
    generation: int


class Published(NamedTuple):
    """What a pool publishes, as far as drift goes."""

    generation: int
    types: Types


def published(pool: Pool) -> Published:
    types = {
        device.name: {
            qualified_name(name, pool.driver): type_of(attribute)
            for name, attribute in (device.attributes or {}).items()
        }
        for device in pool.devices()
    }
    return Published(pool.generation, types)


def lost_between(
    known: Mapping[tuple[str, str], Lost], was: Published, now: Published
) -> LostByAttribute:
    """What is lost after a pool has changed; ``known`` is what was lost before."""
    lost = dict(known)
    for device, attributes in was.types.items():
        found = now.types.get(device)
        if found is None:
            continue
        for name, kind in attributes.items():
            kind_now = found.get(name, "")
            if kind_now != kind:
                lost.setdefault((device, name), Lost(kind, kind_now, was.generation))
    still: LostByAttribute = {}
    for (device, name), one in lost.items():
        found = now.types.get(device)
        if found is not None and found.get(name, "") != one.was:
            still[device, name] = one._replace(now=found.get(name, ""))
    return still


def drift_findings(
    lost: Mapping[PoolKey, Mapping[tuple[str, str], Lost]],
) -> Iterator[Finding]:
    """One finding per driver, attribute and change."""
    grouped: dict[tuple[str, str, str, str], list[tuple[PoolKey, Lost]]] = {}
    for key, found in sorted(lost.items()):
        for (_, name), one in sorted(found.items()):
            at = (key.driver, name, one.was, one.now)
            grouped.setdefault(at, []).append((key, one))
    for (driver, name, was, now), places in sorted(grouped.items()):
        pools = list(dict.fromkeys(key.name for key, _ in places))
        devices = counted(len(places), "device")
        where = f"{devices} in {counted(len(pools), 'pool')}"
        common = {
            "attribute": name,
            "was": was,
            "pools": ", ".join(pools[:20]),
            "generation": max(one.generation for _, one in places),
        }
        if now:
            yield finding(
                Code.ATTRIBUTE_RETYPED,
                Subject("Driver", "", driver, "", f"{name} {was} {now}"),
                f"Driver {driver} publishes {name} of {where} as {now}; it was {was}.",
                now=now,
                **common,
            )
        else:
            yield finding(
                Code.ATTRIBUTE_DROPPED,
                Subject("Driver", "", driver, "", name),
                f"Driver {driver} no longer publishes {name} on {where}.",
                **common,
            )


class Drift:
    """Follows pools; ``lost`` is by pool, then by device and attribute."""

    def __init__(self) -> None:
        self.lost: dict[PoolKey, LostByAttribute] = {}

    def change(self, key: PoolKey, old: Pool | None, new: Pool | None) -> None:
        known = self.lost.pop(key, {})
        if new is None or old is None:
            return
        still = lost_between(known, published(old), published(new))
        if still:
            self.lost[key] = still

    def findings(self) -> Iterator[Finding]:
        return drift_findings(self.lost)


def type_of(attribute: DeviceAttribute) -> str:
    for field, name in _TYPES.items():
        if getattr(attribute, field) is not None:
            return name
    return "nothing"
