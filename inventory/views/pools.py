"""Pools: is the inventory whole?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import Http404

from allocator.findings.queries import ObjectRef, pool_ref
from inventory.filtersets import PoolFilter
from inventory.models import Pool, ResourceSlice
from inventory.queries import counters, counts, devices, slices
from inventory.views import links
from inventory.views.device_map import Strip, strip_of_pool
from inventory.views.device_tables import device_table
from inventory.views.kit import ClusterDetail, ClusterList, ClusterYaml
from web.pages import Column, Crumb, Fact, Heading, Tab, cells

SLICES_SHOWN = 500
SLICES_IN_YAML = 200
"""A slice may have 128 devices: a page of text has to end."""


class Pools(ClusterList[Pool]):
    """All pools: complete or not, and why not."""

    title = "Pools"
    name = "pools"
    noun = ("pool", "pools")
    filterset_class = PoolFilter
    refresh_on = ("ResourceSlice", "ResourceClaim")
    nothing_yet = (
        "No driver has published a ResourceSlice. Install a DRA driver, or see on the "
        "page Clusters whether slices can be read."
    )

    def available_columns(self) -> Sequence[Column]:
        here = self.cluster.name
        return (
            Column(
                "name",
                "Pool",
                sort=("name", "driver"),
                cell=lambda p: links.pool_link(here, p.driver, p.name, full=False),
                kind="mono",
            ),
            Column("driver", "Driver", sort=("driver", "name"), kind="mono"),
            Column(
                "state",
                "State",
                value=lambda p: (
                    "invalid"
                    if not p.valid
                    else "complete"
                    if p.complete
                    else "incomplete"
                ),
                sort=("valid", "complete"),
                cell=links.pool_badge,
            ),
            Column(
                "free",
                "Free / devices",
                value=lambda p: self._counts(p).get("free", 0),
                cell=lambda p: cells.usage_cell(self._counts(p)),
            ),
            Column(
                "devices",
                "Devices",
                value="device_count",
                sort=("device_count",),
                kind="number",
                on_page=False,
            ),
            Column(
                "slices",
                "Slices",
                value=lambda p: f"{p.slices_present} of {p.slices_wanted}",
                sort=("slices_present",),
                kind="number",
                cell=lambda p: f"{p.slices_present:,} of {p.slices_wanted:,}",
            ),
            Column("generation", "Generation", sort=("generation",), kind="number"),
            Column(
                "counter_sets",
                "Counter sets",
                value="counter_set_count",
                sort=("counter_set_count",),
                kind="number",
                shown=False,
            ),
            Column(
                "node",
                "Node",
                value="node_name",
                sort=("node_name",),
                cell=lambda p: links.node_link(here, p.node_name),
                kind="mono",
            ),
            Column(
                "problem", "Why not usable", value="problem", kind="line", if_any=True
            ),
            Column(
                "published",
                "Age",
                value="published_at",
                sort=("-published_at",),
                kind="age",
                title="of the newest slice of its generation",
            ),
        )

    def queryset(self) -> QuerySet[Pool]:
        return slices.pool_rows(self.cluster)

    def filter_options(self) -> dict[str, list[str]]:
        return {"driver": slices.drivers(self.cluster)}

    def prepare(self, rows: list[Pool]) -> list[Pool]:
        keys = [(row.driver, row.name) for row in rows]
        self._found = counts.counts_by_pool(self.cluster, keys)
        return rows

    def sentence(self) -> str:
        found = slices.pool_problems(self.cluster)
        if not found["all"]:
            return ""
        wrong = [f"{found[k]:,} {k}" for k in ("incomplete", "invalid") if found[k]]
        if not wrong:
            return f"All {cells.count(found['all'], 'pool')} can be used."
        return (
            f"{' and '.join(wrong)} of {cells.count(found['all'], 'pool')}: "
            "nothing is allocated from these."
        )

    def _counts(self, pool: Pool) -> counts.Counts:
        return self._found.get((pool.driver, pool.name), {})


class PoolPage(ClusterDetail[Pool]):
    """One pool: its slices, its devices, its counters."""

    template_name = "inventory/pool.html"
    fragments = ("pool-devices",)

    def load(self) -> Pool:
        driver, name = self.kwargs["driver"], self.kwargs["pool"]
        try:
            return Pool.objects.get(cluster=self.cluster, driver=driver, name=name)
        except Pool.DoesNotExist:
            raise Http404(
                f"No slice of driver “{driver}” names a pool “{name}” (any more)."
            ) from None

    def shown_tabs(self) -> Sequence[Tab]:
        pool = self.object
        tabs = [
            Tab("slices", "Slices", "inventory/pool_slices.html"),
            Tab(
                "devices",
                "Devices",
                "inventory/device_table.html",
                count=pool.device_count,
            ),
        ]
        if pool.counter_set_count:
            tabs.append(
                Tab(
                    "counters",
                    "Counter sets",
                    "inventory/pool_counters.html",
                    count=pool.counter_set_count,
                )
            )
        return tabs

    def heading(self) -> Heading:
        pool = self.object
        return Heading(
            kind="Pool",
            name=f"{pool.driver}/{pool.name}",
            sentence=_pool_sentence(pool),
            badges=[links.pool_badge(pool)],
            crumbs=[
                self.cluster_crumb(),
                Crumb("Pools", self.url("pools")),
                Crumb(pool.name),
            ],
            yaml_href=self.url("pool-yaml", pool.driver, pool.name),
        )

    def facts(self) -> list[Fact]:
        pool = self.object
        return [
            Fact("Driver", cells.mono(pool.driver)),
            Fact("Node", links.node_link(self.cluster.name, pool.node_name)),
            Fact("Generation", cells.number(pool.generation)),
            Fact(
                "Slices",
                f"{pool.slices_present:,} of {pool.slices_wanted:,}"
                + (f", {pool.slices_older:,} older" if pool.slices_older else ""),
                help="Slices of the newest generation that exist, of those announced.",
            ),
            Fact("Devices", cells.number(pool.device_count)),
            Fact("Counter sets", cells.number(pool.counter_set_count)),
        ]

    def concerned(self) -> list[ObjectRef]:
        return [pool_ref(self.object.driver, self.object.name)]

    def extra(self) -> dict[str, object]:
        pool = self.object
        key = (pool.driver, pool.name)
        found = counts.counts_by_pool(self.cluster, [key]).get(key, {})
        strip: Strip = strip_of_pool(self.cluster, *key, found)
        return super().extra() | {"strip": strip, "counts": found}

    def tab_slices(self) -> dict[str, object]:
        pool = self.object
        rows = slices.slices_of_pool(self.cluster, pool.driver, pool.name)
        return {"slices": rows[:SLICES_SHOWN], "slices_shown": SLICES_SHOWN}

    def tab_devices(self) -> dict[str, object]:
        pool = self.object
        rows = devices.devices_of_pool(self.cluster, pool.driver, pool.name)
        return device_table(self.cluster.name, rows)

    def tab_counters(self) -> dict[str, object]:
        pool = self.object
        return {"sets": counters.sets_of_pool(self.cluster, pool.driver, pool.name)}


def _pool_sentence(pool: Pool) -> str:
    if not pool.valid:
        return (
            f"Invalid: {pool.problem}. Nothing is allocated from it until the driver "
            "corrects its slices."
        )
    if not pool.complete:
        return (
            f"Incomplete: {pool.problem}. Nothing is allocated from it until the driver "
            "has published the rest. A driver that is updating does so within seconds; "
            "if it stays, look at the driver's pod on the node."
        )
    return ""


class PoolYaml(ClusterYaml):
    """The slices of the pool, as a List."""

    def raw(self) -> Any:
        items = list(self._rows.values_list("raw", flat=True)[: SLICES_IN_YAML + 1])
        if not items:
            raise Http404("The pool is gone.")
        self._cut = len(items) > SLICES_IN_YAML
        return {"apiVersion": "v1", "kind": "List", "items": items[:SLICES_IN_YAML]}

    def left_out(self) -> str:
        if not self._cut:
            return ""
        return f"The first {SLICES_IN_YAML} of {self._rows.count():,} slices, by name."

    @property
    def _rows(self) -> QuerySet[ResourceSlice]:
        return ResourceSlice.objects.filter(
            cluster=self.cluster,
            driver=self.kwargs["driver"],
            pool_name=self.kwargs["pool"],
        ).order_by("name")

    def heading(self) -> Heading:
        driver, pool = self.kwargs["driver"], self.kwargs["pool"]
        return Heading(
            kind="Pool",
            name=f"{driver}/{pool}",
            crumbs=[
                self.cluster_crumb(),
                Crumb("Pools", self.url("pools")),
                Crumb(pool, self.url("pool", driver, pool)),
                Crumb("YAML"),
            ],
        )
