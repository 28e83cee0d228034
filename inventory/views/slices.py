"""ResourceSlices: the list, one slice, its YAML."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import QuerySet
from django.http import Http404

from allocator.findings.queries import ObjectRef, pool_ref
from inventory.filtersets import SliceFilter
from inventory.models import Pool, ResourceSlice
from inventory.queries import counters, devices, slices
from inventory.views import links
from inventory.views.device_tables import device_table
from inventory.views.kit import ClusterDetail, ClusterList, MirroredYaml
from inventory.views.pools import Pools
from web.pages import Column, Crumb, Fact, Heading, cells


class Slices(ClusterList[ResourceSlice]):
    """All slices, as published."""

    title = "Slices"
    name = "slices"
    noun = ("slice", "slices")
    filterset_class = SliceFilter
    refresh_on = ("ResourceSlice",)
    nothing_yet = Pools.nothing_yet

    def available_columns(self) -> Sequence[Column]:
        here = self.cluster.name
        return (
            Column(
                "name",
                "Slice",
                sort=("name",),
                kind="mono",
                cell=lambda s: links.slice_link(here, s.name),
            ),
            Column("driver", "Driver", sort=("driver", "name"), kind="mono"),
            Column(
                "pool",
                "Pool",
                value="pool_name",
                sort=("pool_name", "name"),
                kind="mono",
                cell=lambda s: (
                    links.pool_link(here, s.driver, s.pool_name, full=False)
                    if s.driver and s.pool_name
                    else cells.NOTHING
                ),
            ),
            Column("generation", "Generation", sort=("generation",), kind="number"),
            Column(
                "slice_count",
                "Of slices",
                sort=("slice_count",),
                kind="number",
                title="How many slices the pool announces for this generation.",
            ),
            Column(
                "devices",
                "Devices",
                value="device_count",
                sort=("device_count",),
                kind="number",
            ),
            Column(
                "counter_sets",
                "Counter sets",
                value="counter_set_count",
                sort=("counter_set_count",),
                kind="number",
            ),
            Column(
                "node",
                "Node",
                value=_where,
                sort=("node_name",),
                kind="mono",
                cell=lambda s: _where_cell(here, s),
            ),
            Column("problem", "Problem", if_any=True, value="problem"),
            Column(
                "created", "Age", value="created_at", sort=("-created_at",), kind="age"
            ),
        )

    def queryset(self) -> QuerySet[ResourceSlice]:
        return slices.slice_rows(self.cluster)

    def filter_options(self) -> dict[str, list[str]]:
        return {"driver": slices.drivers(self.cluster)}


def _where(row: ResourceSlice) -> str:
    """The node, or in words which nodes; empty where it could not be read."""
    if row.node_name:
        return row.node_name
    if row.all_nodes:
        return "all nodes"
    return "by selector or device" if _was_read(row) else ""


def _where_cell(cluster: str, row: ResourceSlice) -> str:
    if row.node_name:
        return links.node_link(cluster, row.node_name)
    return _where(row) or cells.NOTHING


def _was_read(row: ResourceSlice) -> bool:
    """A slice with a problem may still be read but for a quantity, which stands in a
    device or in a counter set."""
    return not row.problem or bool(row.device_count or row.counter_set_count)


def _sentence(row: ResourceSlice) -> str:
    if not row.problem:
        return ""
    if not _was_read(row):
        return f"It cannot be read: {row.problem} It takes no part in plans."
    return (
        f"A quantity in it cannot be read: {row.problem} That makes its pool invalid: "
        "nothing is allocated from the pool until the driver corrects it."
    )


class SlicePage(ClusterDetail[ResourceSlice]):
    """One slice and its devices."""

    template_name = "inventory/slice.html"

    def load(self) -> ResourceSlice:
        name = self.kwargs["name"]
        try:
            return ResourceSlice.objects.get(cluster=self.cluster, name=name)
        except ResourceSlice.DoesNotExist:
            raise Http404(
                f"The cluster has no slice named “{name}” (any more). Drivers replace "
                "slices under new names."
            ) from None

    def heading(self) -> Heading:
        row = self.object
        badges = []
        if row.problem:
            badges.append(cells.badge("unreadable", title=row.problem))
        if row.deleting:
            badges.append(cells.badge("deleting"))
        return Heading(
            kind="Slice",
            name=row.name,
            sentence=_sentence(row),
            badges=badges,
            crumbs=[
                self.cluster_crumb(),
                Crumb("Slices", self.url("slices")),
                Crumb(row.name),
            ],
            yaml_href=self.url("slice-yaml", row.name),
        )

    def facts(self) -> list[Fact]:
        row, here = self.object, self.cluster.name
        return [
            Fact("Driver", cells.mono(row.driver)),
            Fact(
                "Pool",
                links.pool_link(here, row.driver, row.pool_name, full=False)
                if row.pool_name and row.driver
                else cells.NOTHING,
            ),
            Fact("Generation", cells.number(row.generation)),
            Fact("Node", _where_cell(here, row)),
            Fact("Devices", cells.number(row.device_count)),
            Fact("Counter sets", cells.number(row.counter_set_count)),
            Fact("Age", cells.age(row.created_at)),
        ]

    def concerned(self) -> list[ObjectRef]:
        row = self.object
        return [
            ObjectRef("ResourceSlice", "", row.name),
            pool_ref(row.driver, row.pool_name),
        ]

    def extra(self) -> dict[str, object]:
        row = self.object
        pool = Pool.objects.filter(
            cluster=self.cluster, driver=row.driver, name=row.pool_name
        ).first()
        return (
            super().extra()
            | {"older": pool is not None and row.generation < pool.generation}
            | device_table(self.cluster.name, devices.devices_of_slice(row.pk))
            | {"sets": counters.published_sets(row.raw)}
        )


class SliceYaml(MirroredYaml):
    model = ResourceSlice
    kind = "Slice"
    section = ("Slices", "slices")
    page = "slice"
