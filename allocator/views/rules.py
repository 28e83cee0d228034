"""The page of rules: which namespaces' claims are allocated as they come."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.generic import View

from allocator import queries, services
from allocator.choices import NodePolicy
from allocator.forms import RuleForm
from allocator.views.starting import Button
from inventory.views.kit import InCluster
from web.doors import RequiresRole
from web.pages import Crumb


class Rules(RequiresRole, InCluster, View):
    """All rules of a cluster, and a form for one more."""

    def get(self, request: HttpRequest, **_: str) -> HttpResponse:
        context = {
            "cluster": self.cluster,
            "title": "Rules",
            "rules": queries.rules(self.cluster),
            "policies": NodePolicy.choices,
            "can_write": not self.cluster.read_only,
            "crumbs": [
                self.cluster_crumb(),
                Crumb("Runs", reverse("runs", args=[self.cluster.name])),
                Crumb("Rules"),
            ],
        }
        return render(request, "allocator/rules.html", context)


class SetRule(Button):
    """Turn a rule on or off."""

    def post(self, request: HttpRequest, **_: str) -> HttpResponse:
        form = RuleForm(request.POST)
        if not form.is_valid():
            self.tell(form)
            return redirect("run-rules", self.cluster.name)
        wanted = form.cleaned_data
        try:
            services.set_rule(
                cluster=self.cluster,
                namespace=wanted["namespace"],
                enabled=wanted["enabled"],
                policy=wanted["policy"],
                user=self.user,
            )
        except services.RunRefused as refusal:
            messages.error(request, str(refusal))
        return redirect("run-rules", self.cluster.name)
