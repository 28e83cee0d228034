"""Addresses below ``/api/v1/``."""

from __future__ import annotations

from django.urls import path

from inventory.api import views

urlpatterns = [
    path("clusters/", views.ClusterList.as_view(), name="api-clusters"),
    path("clusters/<slug:name>/", views.ClusterDetail.as_view(), name="api-cluster"),
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
    path("devices/", views.DeviceList.as_view(), name="api-devices"),
    path(
        "devices/<slug:cluster>/<str:driver>/<path:pool>/<str:name>/",
        views.DeviceDetail.as_view(),
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
