"""Every address of the portal, app by app."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from dra_portal import events, health, metrics

urlpatterns = [
    path("healthz", health.live, name="healthz"),
    path("readyz", health.ready, name="readyz"),
    path("metrics", metrics.Metrics.as_view(), name="metrics"),
    path("events/<slug:cluster>/", events.stream, name="events"),
    path("", include("web.urls")),
    path("api/v1/", include("dra_portal.api")),
    path("", include("dra_portal.page_urls")),
    path("", include("inventory.urls")),
    path("", include("claims.urls")),
    path("", include("allocator.urls")),
    path("", include("allocator.findings.urls")),
    path("admin/", admin.site.urls),
]

handler400 = "web.errors.bad_request"
handler403 = "web.errors.forbidden"
handler404 = "web.errors.not_found"
handler500 = "web.errors.server_error"
