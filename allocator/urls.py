"""Addresses of allocation runs."""

from __future__ import annotations

from django.urls import include, path

from allocator.views import batches, rules, runs, starting

HERE = "c/<slug:cluster>/"

urlpatterns = [
    path("", include("allocator.whatif.urls")),
    path(f"{HERE}runs/", runs.Runs.as_view(), name="runs"),
    path(f"{HERE}runs/start/", starting.StartRun.as_view(), name="run-start"),
    path(f"{HERE}runs/release/", starting.StartRelease.as_view(), name="run-release"),
    path(f"{HERE}runs/batch/", starting.StartBatch.as_view(), name="run-batch-start"),
    path(f"{HERE}runs/rules/", rules.Rules.as_view(), name="run-rules"),
    path(f"{HERE}runs/rules/set/", rules.SetRule.as_view(), name="run-rule-set"),
    path(f"{HERE}runs/batches/<uuid:pk>/", batches.Batch.as_view(), name="run-batch"),
    path(
        f"{HERE}runs/batches/<uuid:pk>/cancel/",
        starting.CancelBatch.as_view(),
        name="run-batch-cancel",
    ),
    path(
        f"{HERE}runs/batches/<uuid:pk>/write/",
        starting.WriteBatch.as_view(),
        name="run-batch-write",
    ),
    path(f"{HERE}runs/<uuid:pk>/", runs.Run.as_view(), name="run"),
    path(
        f"{HERE}runs/<uuid:pk>/cancel/", starting.CancelRun.as_view(), name="run-cancel"
    ),
    path(f"{HERE}runs/<uuid:pk>/retry/", starting.RetryRun.as_view(), name="run-retry"),
]
