"""Addresses of the inventory pages."""

from __future__ import annotations

from django.urls import path

from inventory.views import health

urlpatterns = [
    path("c/<slug:cluster>/freshness/", health.freshness, name="freshness"),
]
