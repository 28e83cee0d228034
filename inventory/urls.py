"""Addresses of the inventory pages."""

from __future__ import annotations

from django.urls import path

from inventory.views import (
    cel_catalog,
    class_terms,
    classes,
    device,
    device_facets,
    device_map,
    devices,
    health,
    history_changes,
    history_timeline,
    history_usage,
    namespaces,
    nodes,
    pools,
    rules,
    slices,
)

HERE = "c/<slug:cluster>/"
DEVICE = "devices/<key:driver>/<keys:pool>/<key:device>/"
POOL = "pools/<key:driver>/<keys:pool>/"

# A pool's name may hold slashes: addresses with a suffix stand before those without.
urlpatterns = [
    path(f"{HERE}freshness/", health.freshness, name="freshness"),
    path(f"{HERE}history/", history_timeline.Timeline.as_view(), name="history"),
    path(f"{HERE}changes/", history_changes.Changes.as_view(), name="changes"),
    path(
        f"{HERE}changes-card/",
        history_changes.ChangesCard.as_view(),
        name="changes-card",
    ),
    path(f"{HERE}usage/", history_usage.UsageCard.as_view(), name="usage"),
    path(f"{HERE}namespaces/", namespaces.Namespaces.as_view(), name="namespaces"),
    path(
        f"{HERE}namespaces/<key:name>/yaml/",
        namespaces.NamespaceYaml.as_view(),
        name="namespace-yaml",
    ),
    path(
        f"{HERE}namespaces/<key:name>/",
        namespaces.NamespacePage.as_view(),
        name="namespace",
    ),
    path(f"{HERE}map/", device_map.DeviceMap.as_view(), name="device-map"),
    path(f"{HERE}nodes/", nodes.Nodes.as_view(), name="nodes"),
    path(f"{HERE}nodes/<key:name>/", nodes.NodePage.as_view(), name="node"),
    path(f"{HERE}nodes/<key:name>/yaml/", nodes.NodeYaml.as_view(), name="node-yaml"),
    path(f"{HERE}pools/", pools.Pools.as_view(), name="pools"),
    path(f"{HERE}{POOL}yaml/", pools.PoolYaml.as_view(), name="pool-yaml"),
    path(f"{HERE}{POOL}", pools.PoolPage.as_view(), name="pool"),
    path(f"{HERE}slices/", slices.Slices.as_view(), name="slices"),
    path(f"{HERE}slices/<key:name>/", slices.SlicePage.as_view(), name="slice"),
    path(
        f"{HERE}slices/<key:name>/yaml/", slices.SliceYaml.as_view(), name="slice-yaml"
    ),
    path(f"{HERE}devices/", devices.Devices.as_view(), name="devices"),
    path(f"{HERE}facets/", device_facets.DeviceFacets.as_view(), name="device-facets"),
    path(f"{HERE}{DEVICE}yaml/", device.DeviceYaml.as_view(), name="device-yaml"),
    path(
        f"{HERE}{DEVICE}classes/",
        classes.DeviceClassesOfDevice.as_view(),
        name="device-classes",
    ),
    path(f"{HERE}{DEVICE}", device.DevicePage.as_view(), name="device"),
    path(f"{HERE}classes/", classes.Classes.as_view(), name="classes"),
    path(f"{HERE}classes/<key:name>/", classes.ClassPage.as_view(), name="class"),
    path(
        f"{HERE}classes/<key:name>/yaml/",
        classes.ClassYaml.as_view(),
        name="class-yaml",
    ),
    path(
        f"{HERE}classes/<key:name>/terms/",
        class_terms.ClassTerms.as_view(),
        name="class-terms",
    ),
    path(f"{HERE}cel/catalog/", cel_catalog.CelCatalog.as_view(), name="cel-catalog"),
    path(f"{HERE}taint-rules/", rules.TaintRules.as_view(), name="taint-rules"),
    path(
        f"{HERE}taint-rules/<key:name>/",
        rules.TaintRulePage.as_view(),
        name="taint-rule",
    ),
    path(
        f"{HERE}taint-rules/<key:name>/yaml/",
        rules.TaintRuleYaml.as_view(),
        name="taint-rule-yaml",
    ),
]
