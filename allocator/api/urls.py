"""Addresses below ``/api/v1/``."""

from __future__ import annotations

from django.urls import path

from allocator.api import rules, views

urlpatterns = [
    path("runs/", views.RunList.as_view(), name="api-runs"),
    path("runs/batch/", views.RunBatch.as_view(), name="api-run-batch"),
    path("runs/release/", views.RunRelease.as_view(), name="api-run-release"),
    path("runs/rules/", rules.RuleList.as_view(), name="api-run-rules"),
    path("runs/<uuid:pk>/retry/", views.RunRetry.as_view(), name="api-run-retry"),
    path("runs/<uuid:pk>/", views.RunDetail.as_view(), name="api-run"),
    path("runs/<uuid:pk>/cancel/", views.RunCancel.as_view(), name="api-run-cancel"),
]
