"""Addresses of what-ifs."""

from __future__ import annotations

from django.urls import path

from allocator.whatif.views import builder, headroom, result, scenarios

HERE = "c/<slug:cluster>/what-if/"
RUN = f"{HERE}runs/<uuid:pk>/"

urlpatterns = [
    path(HERE, builder.Builder.as_view(), name="what-if"),
    path(RUN, result.WhatIfPage.as_view(), name="what-if-run"),
    path(f"{RUN}cancel/", result.CancelWhatIf.as_view(), name="what-if-cancel"),
    path(f"{RUN}again/", result.AgainWhatIf.as_view(), name="what-if-again"),
    path(f"{HERE}compare/", result.CompareWhatIfs.as_view(), name="what-if-compare"),
    path(f"{HERE}headroom/", headroom.HeadroomPage.as_view(), name="what-if-headroom"),
    path(f"{HERE}scenarios/", scenarios.Scenarios.as_view(), name="what-if-scenarios"),
    path(
        f"{HERE}scenarios/<uuid:pk>/",
        scenarios.ScenarioPage.as_view(),
        name="what-if-scenario",
    ),
]
