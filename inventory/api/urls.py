"""Addresses below ``/api/v1/``."""

from __future__ import annotations

from django.urls import path, re_path

from inventory.api import cel, devices, views

# With or without a slash at the end: a redirect would lose what was posted.
CEL = r"^clusters/(?P<name>[-a-zA-Z0-9_]+)/cel"

urlpatterns = [
    path("clusters/", views.ClusterList.as_view(), name="api-clusters"),
    path("clusters/<slug:name>/", views.ClusterDetail.as_view(), name="api-cluster"),
    re_path(f"{CEL}/evaluate/?$", cel.CelEvaluate.as_view(), name="api-cel-evaluate"),
    re_path(f"{CEL}/explain/?$", cel.CelExplain.as_view(), name="api-cel-explain"),
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
