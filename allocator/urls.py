"""Addresses of allocation runs."""

from __future__ import annotations

from django.urls import path

from allocator.views import runs

HERE = "c/<slug:cluster>/"

urlpatterns = [
    path(f"{HERE}runs/", runs.Runs.as_view(), name="runs"),
    path(f"{HERE}runs/start/", runs.StartRun.as_view(), name="run-start"),
    path(f"{HERE}runs/<uuid:pk>/", runs.Run.as_view(), name="run"),
    path(f"{HERE}runs/<uuid:pk>/cancel/", runs.CancelRun.as_view(), name="run-cancel"),
]
