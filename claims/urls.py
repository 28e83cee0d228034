"""Addresses of claims, templates and pods."""

from __future__ import annotations

from django.urls import path

from claims.views import cel, claims, pods, templates, why, yaml

HERE = "c/<slug:cluster>/"
KEY = "<key:namespace>/<key:name>/"
DEVICE = "<key:driver>/<keys:pool>/<key:device>/"

urlpatterns = [
    path(f"{HERE}claims/", claims.Claims.as_view(), name="claims"),
    path(f"{HERE}claims/{KEY}", claims.Claim.as_view(), name="claim"),
    path(f"{HERE}claims/{KEY}yaml/", yaml.ClaimYaml.as_view(), name="claim-yaml"),
    path(f"{HERE}claims/{KEY}why/", why.ClaimWhy.as_view(), name="claim-why"),
    path(f"{HERE}templates/", templates.Templates.as_view(), name="templates"),
    path(f"{HERE}templates/{KEY}", templates.Template.as_view(), name="template"),
    path(
        f"{HERE}templates/{KEY}yaml/",
        yaml.TemplateYaml.as_view(),
        name="template-yaml",
    ),
    path(f"{HERE}pods/", pods.Pods.as_view(), name="pods"),
    path(f"{HERE}pods/{KEY}", pods.PodPage.as_view(), name="pod"),
    path(f"{HERE}pods/{KEY}yaml/", yaml.PodYaml.as_view(), name="pod-yaml"),
    path(f"{HERE}cel/", cel.CelPage.as_view(), name="cel"),
    path(f"{HERE}cel/device/{DEVICE}", cel.CelOnDevice.as_view(), name="cel-device"),
]
