"""Addresses below ``/api/v1/``."""

from __future__ import annotations

from django.urls import path

from inventory.api import cel, devices, history, namespaces, usage, views

EVALUATE = "clusters/<slug:name>/cel/evaluate"
EXPLAIN = "clusters/<slug:name>/cel/explain"

urlpatterns = [
    path("clusters/", views.ClusterList.as_view(), name="api-clusters"),
    path("clusters/<slug:name>/", views.ClusterDetail.as_view(), name="api-cluster"),
    path(f"{EVALUATE}/", cel.CelEvaluate.as_view(), name="api-cel-evaluate"),
    path(f"{EXPLAIN}/", cel.CelExplain.as_view(), name="api-cel-explain"),
    # A redirect to the address with the slash would lose what was posted.
    path(EVALUATE, cel.CelEvaluate.as_view(schema=None)),
    path(EXPLAIN, cel.CelExplain.as_view(schema=None)),
    path(
        "clusters/<slug:name>/namespaces/",
        namespaces.NamespaceList.as_view(),
        name="api-namespaces",
    ),
    path(
        "clusters/<slug:name>/namespaces/<name:namespace>/",
        namespaces.NamespaceDetail.as_view(),
        name="api-namespace",
    ),
    path(
        "clusters/<slug:name>/changes/",
        history.ClusterChanges.as_view(),
        name="api-changes",
    ),
    path(
        "clusters/<slug:name>/changes/counts/",
        history.ChangeCounts.as_view(),
        name="api-change-counts",
    ),
    path(
        "claims/<slug:cluster>/<name:namespace>/<name:name>/history/",
        history.ClaimHistory.as_view(),
        name="api-claim-history",
    ),
    path(
        "devices/<slug:cluster>/<name:driver>/<names:pool>/<name:name>/history/",
        history.DeviceHistory.as_view(),
        name="api-device-history",
    ),
    path(
        "nodes/<slug:cluster>/<name:name>/history/",
        history.NodeHistory.as_view(),
        name="api-node-history",
    ),
    path(
        "classes/<slug:cluster>/<name:name>/history/",
        history.ClassHistory.as_view(),
        name="api-class-history",
    ),
    path(
        "taint-rules/<slug:cluster>/<name:name>/history/",
        history.TaintRuleHistory.as_view(),
        name="api-taint-rule-history",
    ),
    path("usage/", usage.UsageView.as_view(), name="api-usage"),
    path("nodes/", views.NodeList.as_view(), name="api-nodes"),
    path(
        "nodes/<slug:cluster>/<name:name>/", views.NodeDetail.as_view(), name="api-node"
    ),
    path("pools/", views.PoolList.as_view(), name="api-pools"),
    path(
        "pools/<slug:cluster>/<name:driver>/<names:name>/",
        views.PoolDetail.as_view(),
        name="api-pool",
    ),
    path("slices/", views.SliceList.as_view(), name="api-slices"),
    path(
        "slices/<slug:cluster>/<name:name>/",
        views.SliceDetail.as_view(),
        name="api-slice",
    ),
    path("devices/", devices.DeviceList.as_view(), name="api-devices"),
    path(
        "devices/<slug:cluster>/<name:driver>/<names:pool>/<name:name>/",
        devices.DeviceDetail.as_view(),
        name="api-device",
    ),
    # One class, which can be written as well, is an address of claims.api.
    path("classes/", views.ClassList.as_view(), name="api-classes"),
    path("taint-rules/", views.TaintRuleList.as_view(), name="api-taint-rules"),
    path(
        "taint-rules/<slug:cluster>/<name:name>/",
        views.TaintRuleDetail.as_view(),
        name="api-taint-rule",
    ),
]
