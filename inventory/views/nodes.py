"""Nodes: what hangs on each, what is left of it?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from django.db.models import QuerySet
from django.http import Http404
from django.utils.html import format_html

from allocator.findings.queries import ObjectRef
from claims.queries import claims as claim_queries
from claims.queries import places
from inventory.filtersets import NodeFilter
from inventory.models import Node
from inventory.queries import counts, nodes, slices
from inventory.queries.classes import extended_resource_names
from inventory.queries.raws import mapping_at, mappings_at
from inventory.views import links, ours
from inventory.views.device_map import strips_of_nodes
from inventory.views.kit import ClusterDetail, ClusterList, MirroredYaml
from inventory.views.shared_devices import SharedDevices, shared_devices
from web.pages import Column, Crumb, Fact, Heading, Tab, cells
from web.pages.addresses import asking

EMPTY: dict[str, counts.Counts] = {}
OWN = "of its own; what it shares with other nodes is on the node's page"
SHOWN = 200
"""Claims and pods on a node's page; the lists have all."""


class Nodes(ClusterList[Node]):
    """All nodes of a cluster with their devices by driver."""

    title = "Nodes"
    name = "nodes"
    noun = ("node", "nodes")
    filterset_class = NodeFilter
    refresh_on = ("Node", "ResourceSlice", "ResourceClaim")
    nothing_yet = "The watch has not seen a node of this cluster."

    def available_columns(self) -> Sequence[Column]:
        here = self.cluster.name
        return (
            Column(
                "name",
                "Node",
                sort=("name",),
                kind="mono",
                cell=lambda n: links.node_link(here, n.name),
            ),
            Column(
                "state",
                "State",
                value=lambda n: " ".join(self._states(n)),
                sort=("ready", "-unschedulable"),
                cell=lambda n: cells.joined(links.node_badges(n), " "),
            ),
            Column(
                "free",
                "Free / devices",
                value=lambda n: self._counts(n).get("free", 0),
                sort=("device_free",),
                title=OWN,
                cell=lambda n: cells.usage_cell(self._counts(n)),
            ),
            Column(
                "devices",
                "Devices",
                value=lambda n: sum(self._counts(n).values()),
                sort=("device_total",),
                kind="number",
                title=OWN,
            ),
            Column(
                "drivers",
                "By driver",
                value=lambda n: ", ".join(
                    f"{driver}: {sum(found.values())}"
                    for driver, found in self._by_driver(n).items()
                ),
                kind="html",
                cell=self._drivers_cell,
            ),
            Column(
                "claims",
                "Claims",
                value=lambda n: self._claims.get(n.name, 0),
                kind="number",
                cell=self._claims_cell,
            ),
            Column("zone", "Zone", sort=("zone", "name")),
            Column(
                "instance_type", "Type", sort=("instance_type", "name"), shown=False
            ),
            Column(
                "created", "Age", value="created_at", sort=("-created_at",), kind="age"
            ),
        )

    def queryset(self) -> QuerySet[Node]:
        found = nodes.node_rows(self.cluster)
        if self.sort.removeprefix("-") in {"free", "devices"}:
            found = nodes.with_device_counts(found)
        return found

    def filter_options(self) -> dict[str, list[str]]:
        return {
            "zone": nodes.zones(self.cluster),
            "instance_type": nodes.instance_types(self.cluster),
            "driver": slices.drivers(self.cluster),
        }

    def prepare(self, rows: list[Node]) -> list[Node]:
        names = [row.name for row in rows]
        self._found = counts.counts_by_node(self.cluster, names)
        self._claims = places.claim_counts_by_node(self.cluster, names)
        return rows

    def sentence(self) -> str:
        found = nodes.node_counts(self.cluster)
        if not found["all"]:
            return ""
        parts = [cells.count(found["all"], "node")]
        if found["not ready"]:
            parts.append(f"{found['not ready']:,} not ready")
        if found["cordoned"]:
            parts.append(f"{found['cordoned']:,} cordoned")
        said = (
            f"{', '.join(parts)}. {counts.sentence(counts.state_counts(self.cluster))}"
        )
        elsewhere = counts.of_no_single_node(self.cluster)
        if not elsewhere:
            return said
        verb = "is not for one node" if elsewhere == 1 else "are not for one node"
        return (
            f"{said} {cells.count(elsewhere, 'device')} {verb} alone and counted in no "
            "row: the page of a node says which of them it reaches."
        )

    def _by_driver(self, node: Node) -> dict[str, counts.Counts]:
        return self._found.get(node.name, EMPTY)

    def _counts(self, node: Node) -> counts.Counts:
        return counts.total(self._by_driver(node).values())

    def _states(self, node: Node) -> list[str]:
        """The words of its badges."""
        words = {
            "unreadable": bool(node.problem),
            "deleting": node.deleting,
            "ready" if node.ready else "not ready": True,
            "cordoned": node.unschedulable,
        }
        return [word for word, said in words.items() if said]

    def _drivers_cell(self, node: Node) -> str:
        base = self.url("devices")
        return cells.joined(
            format_html(
                '<span class="nowrap"><a href="{}">{}</a> '
                '<span class="dim">{}/{}</span></span>',
                *(asking(base, node_name=node.name, driver=driver), driver),
                *(found.get("free", 0), sum(found.values())),
            )
            for driver, found in self._by_driver(node).items()
        )

    def _claims_cell(self, node: Node) -> str:
        number = self._claims.get(node.name, 0)
        if not number:
            return cells.NOTHING
        href = asking(self.url("claims"), node_name=node.name)
        return cells.link(href, f"{number:,}")


class NodePage(ClusterDetail[Node]):
    """One node: its devices as a map, by driver, and who uses them."""

    template_name = "inventory/node.html"
    fragments = ("node-map", "node-shared", "node-claims")

    def load(self) -> Node:
        name = self.kwargs["name"]
        try:
            return Node.objects.get(cluster=self.cluster, name=name)
        except Node.DoesNotExist:
            raise Http404(
                f"The cluster has no node named “{name}” (any more)."
            ) from None

    def shown_tabs(self) -> Sequence[Tab]:
        return (
            Tab("devices", "Devices", "inventory/node_devices.html"),
            Tab("claims", "Claims and pods", "inventory/node_claims.html"),
            Tab("labels", "Labels", "inventory/node_labels.html"),
        )

    def heading(self) -> Heading:
        node = self.object
        return Heading(
            kind="Node",
            name=node.name,
            sentence=self._sentence(),
            badges=links.node_badges(node),
            crumbs=[
                self.cluster_crumb(),
                Crumb("Nodes", self.url("nodes")),
                Crumb(node.name),
            ],
            yaml_href=self.url("node-yaml", node.name),
        )

    def fragment_template(self, name: str) -> str:
        if name == "node-claims":
            return "inventory/node_claims.html#node-claims"
        if name == "node-shared":
            return "inventory/node_devices.html#node-shared"
        return super().fragment_template(name)

    def facts(self) -> list[Fact]:
        node = self.object
        return [
            Fact("Devices", self._device_counts()),
            Fact("Zone", node.zone or cells.NOTHING),
            Fact("Type", node.instance_type or cells.NOTHING),
            Fact("Age", cells.age(node.created_at)),
            *(
                Fact("Taint of a portal", said, wide=True)
                for said in self._ours().values()
            ),
            *self._served_twice(),
            Fact(
                "UID",
                cells.copyable(node.uid) if node.uid else cells.NOTHING,
                wide=True,
            ),
        ]

    @cached_property
    def _own(self) -> dict[tuple[str, str], counts.Counts]:
        return counts.counts_of_node(self.cluster, self.object.name)

    @cached_property
    def _shared(self) -> SharedDevices:
        return shared_devices(self.cluster, self.object.name)

    def _device_counts(self) -> str:
        own = sum(counts.total(self._own.values()).values())
        said = f"{own:,} of its own"
        return f"{said}, {self._shared.total:,} shared" if self._shared.total else said

    def _ours(self) -> dict[str, str]:
        here = self.cluster.name
        return ours.of_node(here, self.object.raw, ours.owner_here(here))

    def _served_twice(self) -> list[Fact]:
        """Extended resources that classes name and a device plugin of the node serves."""
        allocatable = mapping_at(self.object.raw, "status", "allocatable")
        named = extended_resource_names(self.cluster.pk)
        both = sorted(
            name for name in named & allocatable.keys() if str(allocatable[name]) != "0"
        )
        plugin = [f"{allocatable[name]} × {name}" for name in both]
        fact = Fact(
            "Device plugin",
            ", ".join(plugin),
            help="A class stands for this name too. On this node the plugin serves "
            "it: pods get it here without a claim.",
        )
        return [fact] if plugin else []

    def concerned(self) -> list[ObjectRef]:
        return [ObjectRef("Node", "", self.object.name)]

    def extra(self) -> dict[str, object]:
        found = self._own
        by_driver: dict[str, counts.Counts] = {}
        for (driver, _), its in found.items():
            by_driver[driver] = counts.total([by_driver.get(driver, {}), its])
        pools = slices.pools_of_node(self.cluster, self.object.name, found)
        return super().extra() | {
            "by_driver": by_driver,
            "shared_devices": self._shared,
            "strips": strips_of_nodes(self.cluster, [self.object.name]),
            "pools": [
                (pool, links.pool_badge(pool), found.get((pool.driver, pool.name), {}))
                for pool in pools
            ],
        }

    def tab_claims(self) -> dict[str, object]:
        name = self.object.name
        return {
            "claims": claim_queries.claims_on_node(self.cluster, name)[:SHOWN],
            "pods": places.pods_on_node(self.cluster, name)[:SHOWN],
            "shown": SHOWN,
        }

    def tab_labels(self) -> dict[str, object]:
        raw = self.object.raw
        return {
            "labels": sorted(mapping_at(raw, "metadata", "labels").items()),
            "taints": [
                (links.taint_text(taint), self._ours().get(str(taint.get("key"))))
                for taint in mappings_at(raw, "spec", "taints")
            ],
        }

    def _sentence(self) -> str:
        node = self.object
        if node.problem:
            return (
                f"This node cannot be read: {node.problem} It takes no part in plans."
            )
        if not node.ready:
            return (
                "The node is not ready: new pods are not placed here, so its devices "
                "cannot be used until the kubelet reports again."
            )
        if node.unschedulable:
            return (
                "The node is cordoned: what runs keeps its devices, new pods go "
                f"elsewhere. To undo: kubectl uncordon {node.name}."
            )
        return ""


class NodeYaml(MirroredYaml):
    model = Node
    kind = "Node"
    section = ("Nodes", "nodes")
    page = "node"
