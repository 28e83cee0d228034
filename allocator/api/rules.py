"""Rules: list, turn on and off."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from allocator import models, services
from allocator.api import serializers
from allocator.api.views import cluster_named
from inventory.api.base import CLUSTER_PARAMETER, MirrorList
from web.api.problems import Conflict


class RuleList(MirrorList):
    """Namespaces whose claims are, or were once, allocated as they come."""

    queryset = models.AllocationRule.objects.select_related("cluster", "changed_by")
    serializer_class = serializers.RuleSerializer
    filterset_class = None
    cursor_ordering = ("namespace", "pk")
    follows_seq = False

    @extend_schema(parameters=[CLUSTER_PARAMETER])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.list(request, *args, **kwargs)

    @extend_schema(
        request=serializers.SetRuleSerializer,
        responses={
            200: serializers.RuleSerializer,
            409: OpenApiResponse(description="The cluster is read-only here."),
        },
    )
    def post(self, request: Request) -> Response:
        """Turn the rule of a namespace on or off."""
        wanted = serializers.SetRuleSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        data = wanted.validated_data
        try:
            rule = services.set_rule(
                cluster=cluster_named(data["cluster"]),
                namespace=data["namespace"],
                policy=data["policy"],
                enabled=data["enabled"],
                user=request.user,
            )
        except services.RunRefused as refusal:
            raise Conflict(str(refusal)) from refusal
        return Response(serializers.RuleSerializer(rule).data)
