"""Addresses below ``/api/v1/``."""

from __future__ import annotations

from django.urls import include, path

from allocator.findings.api import views

urlpatterns = [
    path("", include("allocator.repairs.api.urls")),
    path("findings/", views.FindingList.as_view(), name="api-findings"),
    path("findings/<int:pk>/", views.FindingDetail.as_view(), name="api-finding"),
    path(
        "findings/<int:pk>/acknowledge/",
        views.FindingAcknowledge.as_view(),
        name="api-finding-acknowledge",
    ),
]
