"""Addresses of the pages about everything at once."""

from __future__ import annotations

from django.urls import path

from dra_portal.views import access, clusters, overview, search

urlpatterns = [
    path("", overview.home, name="overview-home"),
    path("clusters/", clusters.Clusters.as_view(), name="clusters"),
    path("c/<slug:cluster>/", overview.Overview.as_view(), name="overview"),
    path(
        "c/<slug:cluster>/classes-card/",
        overview.OverviewClasses.as_view(),
        name="overview-classes",
    ),
    path(
        "c/<slug:cluster>/access/",
        access.ClusterAccess.as_view(),
        name="cluster-access",
    ),
    path(
        "c/<slug:cluster>/delete/",
        clusters.DeleteCluster.as_view(),
        name="cluster-delete",
    ),
    path("c/<slug:cluster>/search/", search.Search.as_view(), name="search"),
]
