"""Devices: where is one like this, who has it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404
from django.utils.http import urlencode

from allocator import snapshots
from allocator.findings.queries import ObjectRef, device_ref
from claims.queries import claims as claim_queries
from claims.queries import places
from dra.familiar_names import meaning
from inventory.filtersets import DeviceFilter
from inventory.models import Cluster, Device
from inventory.queries import counters, counts, devices, slices
from inventory.selecting import Matches, Reached, features_of, matches, reached
from inventory.views import links, ours
from inventory.views.cel_filter import said
from inventory.views.kit import ClusterDetail, ClusterList, ClusterYaml
from inventory.views.usage import CapacityUse, capacity_uses
from web.pages import Column, Crumb, Fact, Heading, cells
from web.pages.addresses import with_parameters

ATTRIBUTE_PREFIX = "attr:"
MAX_ATTRIBUTE_COLUMNS = 20


class Devices(ClusterList[Device]):
    """All devices, found by any attribute."""

    title = "Devices"
    name = "devices"
    noun = ("device", "devices")
    template_name = "inventory/devices.html"
    filterset_class = DeviceFilter
    default_sort = "node"
    results_template = "inventory/devices.html#results"
    main_filter_names = ("q", "driver", "state", "node_name", "cel")
    filters_that_answer = ("cel",)
    refresh_on = ("ResourceSlice", "ResourceClaim", "DeviceTaintRule")
    nothing_yet = (
        "No driver has published a device. Install a DRA driver, or see on the page "
        "Clusters whether slices can be read."
    )

    def available_columns(self) -> Sequence[Column]:
        return (*self._own_columns(), *self._attribute_columns())

    def _own_columns(self) -> Sequence[Column]:
        here = self.cluster.name
        return (
            Column(
                "name",
                "Device",
                sort=("name", "pool"),
                kind="mono",
                cell=lambda d: links.device_link(here, d),
            ),
            Column("state", "State", sort=("state",), cell=links.state_badge),
            Column("driver", "Driver", sort=("driver", "pool", "name"), kind="mono"),
            Column(
                "pool",
                "Pool",
                sort=("pool", "driver", "name"),
                kind="mono",
                shown=False,
                cell=lambda d: links.pool_link(here, d.driver, d.pool, full=False),
            ),
            Column(
                "node",
                "Node",
                value="node_name",
                sort=("node_name", "driver", "name"),
                kind="mono",
                title="the one node that it is for; empty: several",
                cell=lambda d: links.node_link(here, d.node_name),
            ),
            Column(
                "summary",
                "What it is",
                value=_summary,
                kind="line",
                exported=False,
            ),
            Column(
                "holders",
                "Held by",
                flexible=True,
                value=lambda d: ", ".join(self._holders_of(d)),
                cell=lambda d: links.claim_links(here, self._holders_of(d), most=1),
            ),
            Column(
                "taints",
                "Taints",
                if_any=True,
                value=lambda d: ", ".join(map(links.taint_text, d.taints)),
                kind="mono",
            ),
            Column(
                "created",
                "Age",
                value="slice.created_at",
                sort=("-slice__created_at",),
                kind="age",
                title="of the slice that publishes it",
            ),
            Column(
                "shareable",
                "Shareable",
                value=lambda d: "yes" if d.shareable else "no",
                sort=("shareable",),
                shown=False,
            ),
            Column(
                "holder_count",
                "Holders",
                sort=("holder_count",),
                kind="number",
                shown=False,
            ),
        )

    def _attribute_columns(self) -> list[Column]:
        """Those asked for in the address, then those that a sample of devices has."""
        asked = [
            name.removeprefix(ATTRIBUTE_PREFIX)
            for name in self.asked_columns
            if name.startswith(ATTRIBUTE_PREFIX) and len(name) <= 253
        ][:MAX_ATTRIBUTE_COLUMNS]
        known = devices.attribute_names(self.cluster)
        return [
            Column(
                f"{ATTRIBUTE_PREFIX}{name}",
                name,
                value=partial(_value, name),
                kind="mono",
                shown=False,
            )
            for name in dict.fromkeys([*asked, *known])
        ]

    def queryset(self) -> QuerySet[Device]:
        rows = devices.device_rows(self.cluster)
        return rows.select_related("slice").defer("slice__raw")

    @cached_property
    def filterset(self) -> DeviceFilter:
        filters = DeviceFilter(
            self.request.GET,
            queryset=self.queryset(),
            request=self.request,
            ask=self._ask,
            reach=self._reach,
        )
        filters.form.fields["cel"].widget.attrs |= {
            "hx-get": self.request.path,
            "hx-include": "#filters",
            "hx-trigger": "input changed delay:400ms",
            "aria-describedby": "cel-said",
        }
        return filters

    def _ask(self, expression: str) -> tuple[Cluster, Matches]:
        snapshot = snapshots.current(self.cluster)
        features = features_of(self.cluster)
        self._matches = matches(snapshot, expression, features=features)
        return self.cluster, self._matches

    def _reach(self, node_name: str) -> tuple[Cluster, Reached]:
        snapshot = snapshots.current(self.cluster)
        return self.cluster, reached(self.cluster, snapshot, node_name)

    _matches: Matches | None = None

    @cached_property
    def paginator(self) -> Paginator[Device]:
        """Where the expression is the only filter, it has counted already."""
        paginator = Paginator(self.rows, self.size)
        found = self._matches
        if found and found.selection and self._filters_on == ["cel"]:
            paginator.count = found.matched
        return paginator

    @property
    def _filters_on(self) -> list[str]:
        form = self.filterset.form
        return [name for name, value in form.cleaned_data.items() if value]

    def filter_options(self) -> dict[str, list[str]]:
        return {"driver": slices.drivers(self.cluster)}

    def prepare(self, rows: list[Device]) -> list[Device]:
        held = {(row.driver, row.pool) for row in rows if row.holder_count}
        self._holders = places.holder_names(self.cluster, held) if held else {}
        return rows

    def sentence(self) -> str:
        return counts.sentence(counts.state_counts(self.cluster))

    def extra(self) -> dict[str, object]:
        query = self.request.GET.urlencode()
        return super().extra() | {
            "facets_href": f"{self.url('device-facets')}?{query}",
            "cel": said(self.cluster, self._matches, self.request.GET.dict())
            if self._matches
            else None,
            "wider_href": self._wider_href(),
        }

    def _wider_href(self) -> str:
        """Where the devices of one node are listed: those with what it shares."""
        node = self.request.GET.get("node_name", "")
        if not node or not slices.any_for_several_nodes(self.cluster):
            return ""
        return with_parameters(self.request, drop=("node_name",), reaches=node)

    def _holders_of(self, device: Device) -> list[str]:
        return self._holders.get((device.driver, device.pool, device.name), [])


def _value(name: str, device: Device) -> str:
    if name in device.attributes:
        return links.attribute_text(device.attributes[name])
    item = device.capacity.get(name)
    return str(item.get("value", "")) if isinstance(item, dict) else ""


# What people call a device by, most telling first.
_TELLING = ("productName", "product", "model", "type", "profile", "partitionProfile")


def _summary(device: Device) -> str:
    """Its product, profile and memory, as far as it publishes them."""
    shorts = {name.rpartition("/")[2]: name for name in device.attributes}
    parts = [
        links.attribute_text(device.attributes[shorts[short]])
        for short in _TELLING
        if short in shorts
    ][:2]
    parts += [
        f"{name.rpartition('/')[2]} {item.get('value')}"
        for name, item in device.capacity.items()
        if isinstance(item, dict) and name.rpartition("/")[2] in {"memory", "cpu"}
    ]
    return " · ".join(dict.fromkeys(parts))


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
