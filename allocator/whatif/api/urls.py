"""Addresses below ``/api/v1/``."""

from __future__ import annotations

from django.urls import path

from allocator.whatif.api import headroom, scenarios, views

ASK = "clusters/<slug:name>/what-if"
HEADROOM = "clusters/<slug:name>/headroom/"

urlpatterns = [
    path(f"{ASK}/", views.WhatIfAsk.as_view(), name="api-what-if-ask"),
    # A redirect to the address with the slash would lose what was posted.
    path(ASK, views.WhatIfAsk.as_view(schema=None)),
    path(HEADROOM, headroom.HeadroomNow.as_view(), name="api-headroom"),
    path(
        f"{HEADROOM}history/",
        headroom.HeadroomHistory.as_view(),
        name="api-headroom-history",
    ),
    path("what-if/", views.WhatIfList.as_view(), name="api-what-ifs"),
    path("what-if/<uuid:pk>/", views.WhatIfDetail.as_view(), name="api-what-if"),
    path(
        "what-if/<uuid:pk>/cancel/",
        views.WhatIfCancel.as_view(),
        name="api-what-if-cancel",
    ),
    path(
        "what-if/<uuid:pk>/again/",
        views.WhatIfAgain.as_view(),
        name="api-what-if-again",
    ),
    path(
        "what-if/<uuid:pk>/compare/",
        views.WhatIfCompare.as_view(),
        name="api-what-if-compare",
    ),
    path("scenarios/", scenarios.ScenarioList.as_view(), name="api-scenarios"),
    path(
        "scenarios/<uuid:pk>/", scenarios.ScenarioDetail.as_view(), name="api-scenario"
    ),
    path(
        "scenarios/<uuid:pk>/copy/",
        scenarios.ScenarioCopy.as_view(),
        name="api-scenario-copy",
    ),
]
