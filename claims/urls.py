"""Addresses of claims, templates and pods."""

from __future__ import annotations

from django.urls import path

from claims.views import cel, claims, deleting, editor, pods, templates, why, yaml

HERE = "c/<slug:cluster>/"
KEY = "<key:namespace>/<key:name>/"
DRAFT = "<uuid:draft>"
DEVICE = "<key:driver>/<keys:pool>/<key:device>/"

urlpatterns = [
    path(f"{HERE}claims/", claims.Claims.as_view(), name="claims"),
    path(f"{HERE}claims/new/", editor.NewClaim.as_view(), name="new-claim"),
    path(f"{HERE}claims/created/", editor.CreatedPage.as_view(), name="created"),
    path(f"{HERE}drafts/{DRAFT}/", editor.DraftPage.as_view(), name="draft"),
    path(
        f"{HERE}drafts/{DRAFT}/changes/",
        editor.DraftChanges.as_view(),
        name="draft-changes",
    ),
    path(f"{HERE}drafts/{DRAFT}/yaml/", editor.DraftYaml.as_view(), name="draft-yaml"),
    path(f"{HERE}claims/{KEY}", claims.Claim.as_view(), name="claim"),
    path(f"{HERE}claims/{KEY}yaml/", yaml.ClaimYaml.as_view(), name="claim-yaml"),
    path(f"{HERE}claims/{KEY}why/", why.ClaimWhy.as_view(), name="claim-why"),
    path(
        f"{HERE}claims/{KEY}delete/",
        deleting.DeleteClaim.as_view(),
        name="claim-delete",
    ),
    path(f"{HERE}templates/", templates.Templates.as_view(), name="templates"),
    path(f"{HERE}templates/{KEY}", templates.Template.as_view(), name="template"),
    path(
        f"{HERE}templates/{KEY}yaml/",
        yaml.TemplateYaml.as_view(),
        name="template-yaml",
    ),
    path(
        f"{HERE}templates/{KEY}delete/",
        deleting.DeleteTemplate.as_view(),
        name="template-delete",
    ),
    path(
        f"{HERE}classes/<key:name>/delete/",
        deleting.DeleteClass.as_view(),
        name="class-delete",
    ),
    path(f"{HERE}pods/", pods.Pods.as_view(), name="pods"),
    path(f"{HERE}pods/{KEY}", pods.PodPage.as_view(), name="pod"),
    path(f"{HERE}pods/{KEY}why/", why.PodWhy.as_view(), name="pod-why"),
    path(f"{HERE}pods/{KEY}yaml/", yaml.PodYaml.as_view(), name="pod-yaml"),
    path(f"{HERE}cel/", cel.CelPage.as_view(), name="cel"),
    path(f"{HERE}cel/device/{DEVICE}", cel.CelOnDevice.as_view(), name="cel-device"),
]
