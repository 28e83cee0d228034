"""Devices: where is one like this, who has it?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

from django.core.paginator import Paginator
from django.db.models import QuerySet

from allocator import snapshots
from claims.queries import places
from inventory.filtersets import DeviceFilter
from inventory.models import Cluster, Device
from inventory.queries import counts, devices, slices
from inventory.selecting import Matches, Reached, features_of, matches, reached
from inventory.views import links
from inventory.views.cel_filter import said
from inventory.views.kit import ClusterList
from web.pages import Column
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
