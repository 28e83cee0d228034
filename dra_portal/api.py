"""The API's root: every app's endpoints, the schema, and a page to try them."""

from __future__ import annotations

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

# The scheme registers itself; here, because only what serves the API pays for it.
from web.api import schema as _schema  # noqa: F401
from web.api.permissions import ViewerReads


class Schema(SpectacularAPIView):
    permission_classes = [ViewerReads]


class SwaggerPage(SpectacularSwaggerSplitView):
    """Swagger UI from our own files; the script is an address of its own for the CSP."""

    permission_classes = [ViewerReads]


urlpatterns = [
    path("", include("inventory.api.urls")),
    path("", include("claims.api.urls")),
    path("", include("allocator.api.urls")),
    path("", include("allocator.findings.api.urls")),
    path("", include("allocator.whatif.api.urls")),
    path("schema/", Schema.as_view(), name="api-schema"),
    path("docs/", SwaggerPage.as_view(url_name="api-schema"), name="api-docs"),
]
