"""Addresses of findings."""

from __future__ import annotations

from django.urls import include, path

from allocator.findings.views import detail, listing, on_object

HERE = "c/<slug:cluster>/findings/"

urlpatterns = [
    path("", include("allocator.repairs.urls")),
    path(HERE, listing.Findings.as_view(), name="findings"),
    path(f"{HERE}of/", on_object.ObjectFindings.as_view(), name="object-findings"),
    path(f"{HERE}<int:pk>/", detail.FindingPage.as_view(), name="finding"),
    path(
        f"{HERE}<int:pk>/acknowledge/",
        detail.Acknowledge.as_view(),
        name="finding-acknowledge",
    ),
]
