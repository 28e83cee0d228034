"""Classes and taint rules: whether they mean what they should."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from dra.allocation.classes import chain_of
from dra.allocation.features import Features
from dra.allocation.matching import Trouble, chain_verdicts
from dra.audits.codes import Code
from dra.audits.finding import Finding, Subject, counted, finding
from dra.cel.table import DeviceTable
from dra.errors import NotSupportedError
from dra.extended_resources import classes_by_resource
from dra.names import PoolKey
from dra.objects import DeviceTaintRule, TaintRuleSelector
from dra.pools import Pool
from dra.snapshot import Snapshot
from dra.taints import prevents_allocation


def class_findings(snapshot: Snapshot, features: Features) -> Iterator[Finding]:
    """All classes against all devices."""
    table = snapshot.devices(lists=features.list_type_attributes)
    for name in sorted(snapshot.classes):
        yield from _of_class(snapshot, name, table)
    for resource, served in classes_by_resource(snapshot).items():
        for loser in served.others:
            yield finding(
                Code.CLASS_RESOURCE_CLASH,
                Subject("DeviceClass", "", loser, "", resource),
                f"Pods that ask for {resource} get class {served.class_name}; class "
                f"{loser} has the same extendedResourceName and is not used for it.",
                resource=resource,
                used=served.class_name,
            )


def _of_class(snapshot: Snapshot, name: str, table: DeviceTable) -> Iterator[Finding]:
    subject = Subject("DeviceClass", "", name)
    chain = chain_of(snapshot.classes[name])
    if not chain:
        yield finding(
            Code.CLASS_MATCHES_EVERYTHING,
            subject,
            f"Class {name} has no selectors: it selects every device.",
            devices=len(table),
        )
        return
    if not len(table):
        return
    try:
        codes, verdicts = chain_verdicts(chain, table)
    except NotSupportedError:
        return
    failing = [c for c, verdict in enumerate(verdicts) if isinstance(verdict, Trouble)]
    rows = np.flatnonzero(np.isin(codes, failing))
    if len(rows):
        first = int(rows[0])
        trouble = verdicts[codes[first]]
        assert isinstance(trouble, Trouble)
        yield finding(
            Code.CLASS_SELECTOR_ERROR,
            subject,
            f"Selector #{trouble.position} of class {name} fails on "
            f"{counted(len(rows), 'device')}: {trouble.text}.",
            device=table.ids[first],
            devices=len(rows),
            error=trouble.text,
        )
        return
    matched = np.flatnonzero(codes == 0)
    if not len(matched):
        yield finding(
            Code.CLASS_MATCHES_NOTHING,
            subject,
            f"Class {name} selects none of {counted(len(table), 'device')}.",
        )
    elif len(matched) == len(table):
        drivers = sorted({pool.driver for _, pool, _, _ in table.listing.blocks})
        if len(drivers) > 1:
            yield finding(
                Code.CLASS_MATCHES_EVERYTHING,
                subject,
                f"Class {name} selects every device of {counted(len(drivers), 'driver')}.",
                devices=len(table),
                drivers=", ".join(drivers),
            )


class DeviceNames:
    """How many pools publish a device of a name, by driver; follows pools as they change."""

    def __init__(self) -> None:
        self.drivers: Counter[str] = Counter()
        """Devices by driver."""
        self.pools: Counter[tuple[str | None, str]] = Counter()
        """Devices by driver (and None: any) and pool."""
        self.devices: Counter[tuple[str | None, str]] = Counter()
        """The same by driver and device."""

    def change(self, old: Pool | None, new: Pool | None) -> None:
        for pool, sign in ((old, -1), (new, 1)):
            if pool is None:
                continue
            names = [device.name for device in pool.devices()]
            _add(self.drivers, pool.driver, sign * len(names))
            for driver in (pool.driver, None):
                _add(self.pools, (driver, pool.name), sign * len(names))
                for name in names:
                    _add(self.devices, (driver, name), sign)

    def total(self) -> int:
        return self.drivers.total()


def _add[K](counter: Counter[K], key: K, number: int) -> None:
    counter[key] += number
    if not counter[key]:
        del counter[key]


def rule_findings(
    rule: DeviceTaintRule, snapshot: Snapshot, names: DeviceNames
) -> Iterator[Finding]:
    """A rule that means no device, or all."""
    total = names.total()
    if not total:
        return
    name = rule.metadata.name
    number = _matched(rule.spec.device_selector, snapshot, names)
    subject = Subject("DeviceTaintRule", "", name)
    taint = f"{rule.spec.taint.key}:{rule.spec.taint.effect}"
    if not number:
        yield finding(
            Code.RULE_MATCHES_NOTHING,
            subject,
            f"Taint rule {name} matches no device.",
            taint=taint,
        )
    elif number == total and prevents_allocation(rule.spec.taint):
        yield finding(
            Code.RULE_MATCHES_EVERYTHING,
            subject,
            f"Taint rule {name} taints all {counted(total, 'device')} with {taint}.",
            taint=taint,
        )


def _matched(
    selector: TaintRuleSelector | None, snapshot: Snapshot, names: DeviceNames
) -> int:
    if selector is None:
        return names.total()
    driver, pool, device = selector.driver, selector.pool, selector.device
    if pool is not None and device is not None:
        drivers = [driver] if driver is not None else list(names.drivers)
        found = (snapshot.pools.get(PoolKey(d, pool)) for d in drivers)
        return sum(
            one.name == device for p in found if p is not None for one in p.devices()
        )
    if pool is not None:
        return names.pools[driver, pool]
    if device is not None:
        return names.devices[driver, device]
    return names.total() if driver is None else names.drivers[driver]
