"""Addresses below ``/api/v1/``."""

from __future__ import annotations

from django.urls import path

from inventory.api import cel, devices, views

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
    path("nodes/", views.NodeList.as_view(), name="api-nodes"),
    path(
        "nodes/<slug:cluster>/<str:name>/", views.NodeDetail.as_view(), name="api-node"
    ),
    path("pools/", views.PoolList.as_view(), name="api-pools"),
    path(
        "pools/<slug:cluster>/<str:driver>/<path:name>/",
        views.PoolDetail.as_view(),
        name="api-pool",
    ),
    path("slices/", views.SliceList.as_view(), name="api-slices"),
    path(
        "slices/<slug:cluster>/<str:name>/",
        views.SliceDetail.as_view(),
        name="api-slice",
    ),
    path("devices/", devices.DeviceList.as_view(), name="api-devices"),
    path(
        "devices/<slug:cluster>/<str:driver>/<path:pool>/<str:name>/",
        devices.DeviceDetail.as_view(),
        name="api-device",
    ),
    path("classes/", views.ClassList.as_view(), name="api-classes"),
    path(
        "classes/<slug:cluster>/<str:name>/",
        views.ClassDetail.as_view(),
        name="api-class",
    ),
    path("taint-rules/", views.TaintRuleList.as_view(), name="api-taint-rules"),
    path(
        "taint-rules/<slug:cluster>/<str:name>/",
        views.TaintRuleDetail.as_view(),
        name="api-taint-rule",
    ),
]
