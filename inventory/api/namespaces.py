"""Namespaces: claims by state, devices held, pods that wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from claims.queries import namespaces as queries
from inventory.filtersets import NamespaceFilter
from inventory.models import Cluster, Namespace


class HeldSerializer(serializers.Serializer[Any]):
    driver = serializers.CharField()
    class_name = serializers.CharField(
        help_text="Of the request; empty where it is not known."
    )
    devices = serializers.IntegerField()


class NamespaceSerializer(serializers.Serializer[Any]):
    """What a namespace asks for and holds."""

    cluster = serializers.CharField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField(allow_null=True)
    admin_access = serializers.BooleanField(
        help_text="Its claims may look at devices that others use."
    )
    claims = serializers.DictField(
        child=serializers.IntegerField(), help_text="Number of claims by state."
    )
    templates = serializers.IntegerField()
    devices_held = serializers.IntegerField(
        help_text="Shares count for each claim, admin access does not."
    )
    held = HeldSerializer(many=True)
    pods_waiting = serializers.IntegerField(
        help_text="Pods with claims, of pod groups or for extended resources, without "
        "a node."
    )


class _OfCluster(generics.GenericAPIView[Namespace]):
    serializer_class = NamespaceSerializer
    queryset = Namespace.objects.none()

    def get_queryset(self) -> QuerySet[Namespace]:
        cluster = get_object_or_404(Cluster, name=self.kwargs["name"])
        rows = Namespace.objects.filter(cluster=cluster)
        return rows.select_related("cluster").defer("raw")


class NamespaceList(_OfCluster, generics.ListAPIView[Namespace]):
    """Namespaces of a cluster; four queries more for each page."""

    filterset_class = NamespaceFilter

    def paginate_queryset(self, queryset: Any) -> Any:
        rows = super().paginate_queryset(queryset)
        return described(rows or [])


class NamespaceDetail(_OfCluster):
    """One namespace."""

    def get(self, _request: Request, name: str, namespace: str) -> Response:
        """Also those that only claims name, as in a dump."""
        del name
        row = self.get_queryset().filter(name=namespace).first()
        if row is None:
            cluster = get_object_or_404(Cluster, name=self.kwargs["name"])
            if not any(queries.claim_states(cluster, [namespace]).values()):
                raise Http404("The namespace is not in the cluster (any more).")
            row = Namespace(cluster=cluster, name=namespace)
        return Response(NamespaceSerializer(described([row])[0]).data)


def described(rows: Sequence[Namespace]) -> list[dict[str, Any]]:
    """Rows of one cluster for the serializer."""
    if not rows:
        return []
    cluster, names = rows[0].cluster, [row.name for row in rows]
    states = queries.claim_states(cluster, names)
    held = queries.held_devices(cluster, names)
    waiting = queries.waiting_pods(cluster, names)
    templates = queries.template_counts(cluster, names)
    return [
        {
            "cluster": cluster.name,
            "name": row.name,
            "created_at": row.created_at,
            "admin_access": row.admin_access,
            "claims": states.get(row.name, {}),
            "templates": templates.get(row.name, 0),
            "devices_held": sum(one.devices for one in held.get(row.name, ())),
            "held": [one._asdict() for one in held.get(row.name, ())],
            "pods_waiting": waiting.get(row.name, 0),
        }
        for row in rows
    ]
