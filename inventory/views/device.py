"""A device: what is it, what is taken of it, who has it?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import Http404
from django.utils.http import urlencode

from allocator.findings.queries import ObjectRef, device_ref
from claims.queries import claims as claim_queries
from dra.familiar_names import meaning
from inventory.models import Device
from inventory.queries import counters, devices
from inventory.views import links, ours
from inventory.views.kit import ClusterDetail, ClusterYaml
from inventory.views.usage import CapacityUse, capacity_uses
from web.pages import Crumb, Fact, Heading, cells


@dataclass(frozen=True, slots=True)
class AttributeRow:
    name: str
    domain: str
    short: str
    type: str
    value: str
    help: str
    href: str
    """Devices with the same value."""


class DevicePage(ClusterDetail[Device]):
    """One device: what it is, what is taken of it, who holds it, what may ask for it."""

    template_name = "inventory/device.html"
    fragments = ("device-use",)

    def load(self) -> Device:
        driver, pool, name = (self.kwargs[k] for k in ("driver", "pool", "device"))
        try:
            return devices.device(self.cluster, driver, pool, name)
        except Device.DoesNotExist:
            raise Http404(
                f"Driver “{driver}” does not publish a device “{name}” in pool “{pool}” "
                "(any more). A claim may still hold it."
            ) from None

    def heading(self) -> Heading:
        device = self.object
        badges = [links.state_badge(device)]
        if device.shareable:
            badges.append(
                cells.toned(
                    "plain",
                    "circle-half",
                    "shareable",
                    "Several claims may hold shares of it (allowMultipleAllocations).",
                )
            )
        return Heading(
            kind="Device",
            name=device.name,
            sentence=links.SENTENCES.get(device.state, ""),
            badges=badges,
            crumbs=[
                self.cluster_crumb(),
                Crumb("Devices", self.url("devices")),
                Crumb(
                    f"{device.driver}/{device.pool}",
                    self.url("pool", device.driver, device.pool),
                ),
                Crumb(device.name),
            ],
            yaml_href=self.url("device-yaml", device.driver, device.pool, device.name),
        )

    def facts(self) -> list[Fact]:
        device, here = self.object, self.cluster.name
        identifier = f"{device.driver}/{device.pool}/{device.name}"
        return [
            Fact("Driver", cells.mono(device.driver)),
            Fact(
                "Node",
                links.node_link(here, device.node_name)
                if device.node_name
                else ("all nodes" if device.slice.all_nodes else "not on one node"),
            ),
            Fact("Pool", links.pool_link(here, device.driver, device.pool, full=False)),
            Fact("Slice", links.slice_link(here, device.slice.name)),
            Fact("Identifier", cells.copyable(identifier), wide=True),
        ]

    def concerned(self) -> list[ObjectRef]:
        device = self.object
        return [device_ref(device.driver, device.pool, device.name)]

    def extra(self) -> dict[str, object]:
        device = self.object
        key = (device.driver, device.pool, device.name)
        found = claim_queries.holders_of_devices(self.cluster, [key])
        holders = found.get(key, [])
        sets = counters.sets_of_device(device)
        uses: list[CapacityUse] = capacity_uses(device, [h.result for h in holders])
        return super().extra() | {
            "attributes": self._attributes(),
            "capacities": uses,
            "sets": [(set_, self._siblings(set_)) for set_ in sets],
            "taints": [self._taint(taint) for taint in device.taints],
            "holders": holders,
            "classes_href": self.url("device-classes", *key),
            "history_name": "/".join(key),
        }

    def _attributes(self) -> list[AttributeRow]:
        devices_href = self.url("devices")
        rows = []
        for name, attribute in sorted(self.object.attributes.items()):
            domain, _, short = name.rpartition("/")
            value = links.attribute_text(attribute)
            query = urlencode({"attr": f"{name}={value}"})
            rows.append(
                AttributeRow(
                    name=name,
                    domain=domain,
                    short=short,
                    type=links.attribute_type(attribute),
                    value=value,
                    help=meaning(name),
                    href=f"{devices_href}?{query}",
                )
            )
        return rows

    def _siblings(self, set_: counters.CounterSet) -> list[tuple[Device, str, str]]:
        return [
            (
                device,
                links.device_href(self.cluster.name, device),
                links.state_badge(device),
            )
            for device in set_.devices
            if device.pk != self.object.pk
        ]

    def _taint(self, taint: dict[str, Any]) -> dict[str, object]:
        rule = str(taint.get("rule") or "")
        return {
            "text": links.taint_text(taint),
            "effect": taint.get("effect", ""),
            "added": links.since(taint["timeAdded"]) if taint.get("timeAdded") else "",
            "rule": links.rule_link(self.cluster.name, rule) if rule else "",
            "ours": ours.of_device(self.cluster.name, self.object, taint),
        }


class DeviceYaml(ClusterYaml):
    """The device as its slice publishes it."""

    def raw(self) -> Any:
        driver, pool, name = (self.kwargs[k] for k in ("driver", "pool", "device"))
        try:
            device = devices.device(self.cluster, driver, pool, name)
        except Device.DoesNotExist:
            raise Http404("The device is not published (any more).") from None
        published = (device.slice.raw.get("spec") or {}).get("devices") or []
        return published[device.position] if device.position < len(published) else {}

    def heading(self) -> Heading:
        driver, pool, name = (self.kwargs[k] for k in ("driver", "pool", "device"))
        return Heading(
            kind="Device",
            name=name,
            crumbs=[
                self.cluster_crumb(),
                Crumb("Devices", self.url("devices")),
                Crumb(name, self.url("device", driver, pool, name)),
                Crumb("YAML"),
            ],
        )
