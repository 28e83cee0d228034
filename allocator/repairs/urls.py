"""Addresses of repairs."""

from __future__ import annotations

from django.urls import path

from allocator.repairs import views

HERE = "c/<slug:cluster>/findings/<int:pk>/repair/"

urlpatterns = [
    path(
        f"{HERE}quarantine/",
        views.QuarantineButton.as_view(),
        name="repair-quarantine",
    ),
    path(f"{HERE}keep/", views.KeepButton.as_view(), name="repair-keep"),
    path(f"{HERE}release/", views.ReleaseButton.as_view(), name="repair-release"),
    path(f"{HERE}rewrite/", views.RewriteButton.as_view(), name="repair-rewrite"),
    path(f"{HERE}put-back/", views.PutBackButton.as_view(), name="repair-put-back"),
    path(f"{HERE}restarted/", views.RestartedButton.as_view(), name="repair-restarted"),
    path(f"{HERE}wait/", views.WaitButton.as_view(), name="repair-wait"),
    path(f"{HERE}lift/", views.LiftButton.as_view(), name="repair-lift"),
    path(
        "c/<slug:cluster>/repair/<key:driver>/<keys:pool>/<key:device>/",
        views.RepairOfDevice.as_view(),
        name="repair-device",
    ),
]
