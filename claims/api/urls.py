"""Addresses below ``/api/v1/``."""

from __future__ import annotations

from django.urls import path

from claims.api import authoring, drafts, explanation, objects, views

CREATE = "clusters/<slug:name>/claims"
VALIDATE = "clusters/<slug:name>/claims/validate"
PREVIEW = "clusters/<slug:name>/claims/preview"

urlpatterns = [
    path(f"{CREATE}/", objects.ObjectsCreate.as_view(), name="api-objects-create"),
    path(
        f"{VALIDATE}/",
        authoring.ClaimsValidate.as_view(),
        name="api-claims-validate",
    ),
    path(f"{PREVIEW}/", authoring.ClaimsPreview.as_view(), name="api-claims-preview"),
    # A redirect to the address with the slash would lose what was posted.
    path(CREATE, objects.ObjectsCreate.as_view(schema=None)),
    path(VALIDATE, authoring.ClaimsValidate.as_view(schema=None)),
    path(PREVIEW, authoring.ClaimsPreview.as_view(schema=None)),
    path("claims/", views.ClaimList.as_view(), name="api-claims"),
    path(
        "claims/<slug:cluster>/<name:namespace>/<name:name>/",
        objects.ClaimObject.as_view(),
        name="api-claim",
    ),
    path(
        "claims/<slug:cluster>/<name:namespace>/<name:name>/explanation/",
        explanation.ClaimExplanation.as_view(),
        name="api-claim-explanation",
    ),
    path("templates/", views.TemplateList.as_view(), name="api-templates"),
    path(
        "templates/<slug:cluster>/<name:namespace>/<name:name>/",
        objects.TemplateObject.as_view(),
        name="api-template",
    ),
    path(
        "classes/<slug:cluster>/<name:name>/",
        objects.ClassObject.as_view(),
        name="api-class",
    ),
    path("drafts/", drafts.DraftList.as_view(), name="api-drafts"),
    path("drafts/<uuid:pk>/", drafts.DraftDetail.as_view(), name="api-draft"),
    path("pods/", views.PodList.as_view(), name="api-pods"),
    path(
        "pods/<slug:cluster>/<name:namespace>/<name:name>/",
        views.PodDetail.as_view(),
        name="api-pod",
    ),
    path(
        "pods/<slug:cluster>/<name:namespace>/<name:name>/explanation/",
        explanation.PodExplanation.as_view(),
        name="api-pod-explanation",
    ),
]
