"""Scenarios that are kept: the list, the page of one, its buttons and files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.text import slugify

from allocator.models import SavedScenario
from allocator.whatif.running import WhatIfRefused, start_what_if
from allocator.whatif.saved import (
    ScenarioRefused,
    change_scenario,
    copy_scenario,
    discard_scenario,
    scenarios_for,
)
from allocator.whatif.views.result import scenario_file
from dra.whatif import ScenarioError, of_scenario, read_scenario
from inventory.views.kit import ClusterDetail, ClusterList
from web.pages import Column, Crumb, Fact, Heading, cells

RUNS_SHOWN = 50


class Scenarios(ClusterList[SavedScenario]):
    """Your scenarios and those that others share."""

    title = "Scenarios"
    name = "what-if-scenarios"
    noun = ("scenario", "scenarios")
    nothing_yet = (
        "Nobody has kept a scenario here. Build one under What-if and press Save."
    )

    def available_columns(self) -> Sequence[Column]:
        here = self.cluster.name
        return (
            Column(
                "name",
                "Scenario",
                sort=("name",),
                href=lambda s: reverse("what-if-scenario", args=[here, s.pk]),
            ),
            Column("says", "What it says", value=_says, kind="line"),
            Column("by", "Of", value=lambda s: s.user.get_username()),
            Column(
                "shared", "Shared", value=lambda s: "shared" if s.shared else "private"
            ),
            Column(
                "changed",
                "Changed",
                value="updated_at",
                sort=("updated_at",),
                kind="age",
            ),
        )

    def queryset(self) -> QuerySet[SavedScenario]:
        assert isinstance(self.request.user, User)
        return scenarios_for(self.request.user, self.cluster)

    def crumbs(self) -> list[Crumb]:
        return [
            self.cluster_crumb(),
            Crumb("What-if", self.url("what-if")),
            Crumb("Scenarios"),
        ]


class ScenarioPage(ClusterDetail[SavedScenario]):
    """One scenario as sentences, with its answers; POST: its buttons."""

    template_name = "allocator/whatif/scenario.html"

    @property
    def user(self) -> User:
        assert isinstance(self.request.user, User)
        return self.request.user

    def load(self) -> SavedScenario:
        found = scenarios_for(self.user, self.cluster)
        return get_object_or_404(found, pk=self.kwargs["pk"])

    def heading(self) -> Heading:
        saved = self.object
        return Heading(
            kind="Scenario",
            name=saved.name,
            badges=[cells.toned("muted", "user", "shared")] if saved.shared else [],
            crumbs=[
                self.cluster_crumb(),
                Crumb("What-if", self.url("what-if")),
                Crumb("Scenarios", self.url("what-if-scenarios")),
                Crumb(saved.name),
            ],
        )

    def facts(self) -> list[Fact]:
        return [
            Fact("Of", self.object.user.get_username()),
            Fact("Changed", cells.ago(self.object.updated_at)),
        ]

    def extra(self) -> dict[str, object]:
        saved = self.object
        runs = saved.runs.select_related("user").defer("result", "document")
        return super().extra() | {
            "saved": saved,
            "sentences": of_scenario(read_scenario(saved.document)),
            "is_own": saved.user_id == self.user.pk,
            "runs": runs.filter(user=self.user)[:RUNS_SHOWN],
        }

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        wanted = request.GET.get("format", "")
        if wanted in ("yaml", "json"):
            saved = self.load()
            name = slugify(saved.name)[:60] or "scenario"
            return scenario_file(saved.document, name, wanted)
        return super().get(request, *args, **kwargs)

    def post(self, request: HttpRequest, *_args: Any, **_kwargs: Any) -> HttpResponse:
        saved = self.load()
        here = self.url("what-if-scenario", saved.pk)
        try:
            href = self._act(request.POST.get("do", ""), saved) or here
        except (ScenarioRefused, WhatIfRefused) as refusal:
            messages.error(request, str(refusal))
            href = here
        except ScenarioError as error:
            messages.error(
                request, f"It does not go with the cluster as it is now: {error}."
            )
            href = here
        return redirect(href)

    def _act(self, do: str, saved: SavedScenario) -> str:
        """Where it leads; empty: to this page."""
        match do:
            case "run":
                run = start_what_if(
                    cluster=self.cluster,
                    user=self.user,
                    scenario=read_scenario(saved.document),
                    title=saved.name,
                    saved=saved,
                )
                return self.url("what-if-run", run.pk)
            case "copy":
                copied = copy_scenario(saved=saved, user=self.user)
                return self.url("what-if-scenario", copied.pk)
            case "share" | "unshare":
                change_scenario(
                    saved=saved,
                    user=self.user,
                    revision=saved.revision,
                    shared=do == "share",
                )
            case "rename":
                change_scenario(
                    saved=saved,
                    user=self.user,
                    revision=saved.revision,
                    name=self.request.POST.get("name", ""),
                )
            case "delete":
                discard_scenario(saved=saved, user=self.user)
                messages.success(self.request, f"The scenario “{saved.name}” is gone.")
                return self.url("what-if-scenarios")
        return ""


def _says(saved: SavedScenario) -> str:
    return " ".join(of_scenario(read_scenario(saved.document))[:5])
