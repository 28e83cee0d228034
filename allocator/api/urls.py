"""Addresses below ``/api/v1/``."""

from __future__ import annotations

from django.urls import path

from allocator.api import views

urlpatterns = [
    path("runs/", views.RunList.as_view(), name="api-runs"),
    path("runs/<uuid:pk>/", views.RunDetail.as_view(), name="api-run"),
    path("runs/<uuid:pk>/cancel/", views.RunCancel.as_view(), name="api-run-cancel"),
]
