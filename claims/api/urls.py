"""Addresses below ``/api/v1/``."""

from __future__ import annotations

from django.urls import path

from claims.api import explanation, views

urlpatterns = [
    path("claims/", views.ClaimList.as_view(), name="api-claims"),
    path(
        "claims/<slug:cluster>/<str:namespace>/<str:name>/",
        views.ClaimDetail.as_view(),
        name="api-claim",
    ),
    path(
        "claims/<slug:cluster>/<str:namespace>/<str:name>/explanation/",
        explanation.ClaimExplanation.as_view(),
        name="api-claim-explanation",
    ),
    path("templates/", views.TemplateList.as_view(), name="api-templates"),
    path(
        "templates/<slug:cluster>/<str:namespace>/<str:name>/",
        views.TemplateDetail.as_view(),
        name="api-template",
    ),
    path("pods/", views.PodList.as_view(), name="api-pods"),
    path(
        "pods/<slug:cluster>/<str:namespace>/<str:name>/",
        views.PodDetail.as_view(),
        name="api-pod",
    ),
]
