"""The kit that every page is made of: lists, details, raw YAML.

A list page (view, filters, export, paging, sorting, htmx fragment in one class)::

    class Nodes(ClusterList[Node]):                 # inventory.views.kit
        title = "Nodes"
        name = "nodes"                              # URL name and export file name
        filterset_class = NodeFilter                # same class as the REST endpoint
        default_sort = "name"
        refresh_on = ("Node", "ResourceSlice")      # kinds that make the list old
        nothing_yet = "The watch has not seen a node."
        columns = (
            Column("name", "Name", sort=("name",), kind="mono", href=node_url),
            Column("zone", "Zone", sort=("zone",)),
            Column("devices", "Devices", kind="number", value="device_count"),
            Column("created", "Age", value="created_at", sort=("created_at",), kind="age"),
        )

        def queryset(self) -> QuerySet[Node]:
            return queries.nodes(self.cluster)      # narrowed to the cluster, raw deferred

        def prepare(self, rows: list[Node]) -> list[Node]:
            return rows                             # bulk-load what cells need, per page

        def sentence(self) -> str:
            return "412 of 1,024 devices free."     # the answer, on top

A cell that is more than text: ``cell=lambda row: cells.badge(row.state)``; every
function of ``web.pages.cells`` returns escaped HTML.

A detail page::

    class NodePage(ClusterDetail[Node]):
        template_name = "inventory/node.html"       # {% extends "pages/detail.html" %}
        fragments = ("devices",)                    # ids that may be re-asked alone
        tabs = (Tab("devices", "Devices"), Tab("claims", "Claims"))

        def load(self) -> Node: ...                 # or raise Http404 (get_object_or_404)
        def heading(self) -> Heading: ...           # kind, name, badges, crumbs, YAML link
        def facts(self) -> list[Fact]: ...          # key-value list
        def tab_devices(self) -> dict[str, object]: ...   # context of the open tab only

In its template::

    {% extends "pages/detail.html" %}
    {% load portal %}
    {% block body %}
      {% partialdef devices inline %}
      <section id="devices" data-refresh-on="ResourceSlice ResourceClaim">…</section>
      {% endpartialdef %}
    {% endblock %}

An element with an ``id`` and ``data-refresh-on`` asks its own page again when one of
these kinds changes and replaces itself: the view renders ``template#id`` when the id is
in ``fragments``. Raw YAML: ``ClusterYaml`` with ``raw()`` and ``heading()`` (or
``MirroredYaml`` of ``inventory.views.kit``, which needs four class attributes); its URL is
the page's name plus ``-yaml``.

Rules: no inline ``style`` or ``on…`` attributes (the CSP refuses them), widths come
from ``{% bar %}`` and ``{% usage %}``; every state through ``{% badge %}``, every time
through ``{% age %}``; every link a real ``href``.
"""

from __future__ import annotations

from web.pages.columns import Column
from web.pages.crumbs import Crumb
from web.pages.detail import DetailPage, Fact, Heading, Tab, YamlPage
from web.pages.listing import ListPage

__all__ = [
    "Column",
    "Crumb",
    "DetailPage",
    "Fact",
    "Heading",
    "ListPage",
    "Tab",
    "YamlPage",
]
