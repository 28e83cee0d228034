"""Addresses below ``/api/v1/findings/<id>/repair/``."""

from __future__ import annotations

from django.urls import path

from allocator.repairs.api import views

HERE = "findings/<int:pk>/repair/"
STEPS = {
    "quarantine": views.Quarantine,
    "keep": views.Keep,
    "release": views.GiveWay,
    "rewrite": views.Rewrite,
    "put-back": views.PutBack,
    "restarted": views.Restarted,
    "wait": views.Wait,
    "lift": views.Lift,
}

urlpatterns = [
    path(HERE, views.RepairDetail.as_view(), name="api-repair"),
    *(
        path(f"{HERE}{key}/", view.as_view(), name=f"api-repair-{key}")
        for key, view in STEPS.items()
    ),
]
