"""The page where a scenario is built: rows, sentences and text of the same thing."""

from __future__ import annotations

import json
from textwrap import shorten
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.generic import View

from allocator.models import SavedScenario, WhatIfRun
from allocator.whatif import documents, starts
from allocator.whatif.asking import snapshot_of
from allocator.whatif.building import (
    Built,
    built_of,
    from_rows,
    from_text,
    text_mark,
    with_problem,
)
from allocator.whatif.kinds import OF_SECTION
from allocator.whatif.rows import Typed, stepped, typed
from allocator.whatif.running import WhatIfRefused, runs_of, start_what_if
from allocator.whatif.saved import (
    ScenarioRefused,
    change_scenario,
    keep_scenario,
    scenario_for,
    scenarios_for,
)
from allocator.whatif.trying import changed
from dra.snapshot import Snapshot
from dra.whatif import POLICIES, Scenario, ScenarioError, write_scenario
from inventory.views.kit import InCluster
from web.doors import RequiresRole, Role
from web.pages import Crumb

KNOWN: Final = 300
"""Names that a field offers; more are typed."""
SHOWN: Final = 10
"""Runs and scenarios that are listed beside the form; their pages have all."""
POLICY_WORDS: Final = {
    "firstFit": "first fit by name",
    "spread": "spread: the emptiest node",
    "pack": "pack: the fullest node",
}


@method_decorator(never_cache, name="dispatch")
class Builder(InCluster, RequiresRole, View):
    """GET begins a scenario where the address says, POST takes a step or runs it."""

    required_role = Role.VIEWER
    request: HttpRequest
    template_name = "allocator/whatif/builder.html"

    @property
    def user(self) -> User:
        assert isinstance(self.request.user, User)
        return self.request.user

    def get(self, request: HttpRequest, **_kwargs: object) -> HttpResponse:
        asked = request.GET
        saved = None
        if key := _uuid(asked.get("scenario", "")):
            saved = get_object_or_404(scenarios_for(self.user, self.cluster), pk=key)
            built = built_of(saved.document)
        elif key := _uuid(asked.get("run", "")):
            run = get_object_or_404(WhatIfRun, cluster=self.cluster, pk=key)
            document = _tried(run, asked.get("change", "")) or run.document
            built, saved = built_of(document), self._readable(run.scenario)
        else:
            built = built_of(starts.started(snapshot_of(self.cluster), asked.dict()))
        return self._page(built, saved)

    def post(self, request: HttpRequest, **_kwargs: object) -> HttpResponseBase:
        step = request.POST.get("do", "")
        saved = self._of_form()
        built = self._built(step)
        match step:
            case "run":
                return self._run(built, saved)
            case "save":
                return self._save(built, None)
            case "save-over":
                return self._save(built, saved)
            case "say" if getattr(request, "htmx", None):
                return self._page(built, saved, "allocator/whatif/said_round.html")
        return self._page(built, saved, added=step)

    # --- what was posted ---

    def _of_form(self) -> SavedScenario | None:
        key = _uuid(self.request.POST.get("saved", ""))
        found = scenario_for(self.user, key) if key else None
        return found if found and found.cluster_id == self.cluster.pk else None

    def _readable(self, saved: SavedScenario | None) -> SavedScenario | None:
        return scenario_for(self.user, saved.pk) if saved else None

    def _built(self, step: str) -> Built:
        data = self.request.POST.dict()
        if step == "import":
            return from_text(self._imported())
        text = data.get("text", "").replace("\r\n", "\n")
        if text_mark(text) == data.get("text_mark"):
            return from_rows(stepped(typed(data), step))
        # The text was changed by hand: it counts, the rows are made anew from it.
        built = from_text(text)
        if built.problems or step in ("", "run", "save", "save-over", "say"):
            return built
        return from_rows(stepped(Typed(built.raw), step))

    def _imported(self) -> str:
        file = self.request.FILES.get("file")
        if file is None:
            return self.request.POST.get("pasted", "")
        assert not isinstance(file, list)
        if (file.size or 0) > documents.MAX_TEXT_BYTES:
            return " " * (documents.MAX_TEXT_BYTES + 1)
        return bytes(file.read()).decode(errors="replace")

    # --- what it leads to ---

    def _run(self, built: Built, saved: SavedScenario | None) -> HttpResponseBase:
        if built.scenario is None or built.is_empty:
            return self._page(built, saved, ask="Add something to change or to place.")
        try:
            run = start_what_if(
                cluster=self.cluster,
                user=self.user,
                scenario=built.scenario,
                title=built.name or _title(built),
                saved=saved if _is_same(saved, built.scenario) else None,
            )
        except ScenarioError as error:
            return self._page(with_problem(built, error), saved)
        except WhatIfRefused as refusal:
            return self._page(built, saved, ask=str(refusal))
        return self._moved(self.url("what-if-run", run.pk))

    def _save(self, built: Built, over: SavedScenario | None) -> HttpResponseBase:
        if built.scenario is None:
            return self._page(built, over)
        name = self.request.POST.get("save_as", "") or built.name or _title(built)
        try:
            if over is not None:
                kept = change_scenario(
                    saved=over,
                    user=self.user,
                    revision=_number(self.request.POST.get("revision", "")),
                    scenario=built.scenario,
                )
            else:
                kept = keep_scenario(
                    cluster=self.cluster,
                    user=self.user,
                    name=name,
                    scenario=built.scenario,
                )
        except ScenarioRefused as refusal:
            return self._page(built, over, ask=str(refusal))
        messages.success(self.request, f"The scenario “{kept.name}” is saved.")
        return self._moved(self.url("what-if-scenario", kept.pk))

    def _moved(self, href: str) -> HttpResponseBase:
        if getattr(self.request, "htmx", None):
            return HttpResponse(headers={"HX-Redirect": href})
        return redirect(href)

    # --- the page ---

    def _page(
        self,
        built: Built,
        saved: SavedScenario | None,
        template: str = "",
        *,
        ask: str = "",
        added: str = "",
    ) -> HttpResponse:
        fragment = bool(getattr(self.request, "htmx", None))
        context: dict[str, Any] = {
            "cluster": self.cluster,
            "title": "What if",
            "crumbs": [self.cluster_crumb(), Crumb("What-if")],
            "built": built,
            "sections": _sections(built),
            "known": known_names(snapshot_of(self.cluster)),
            "policies": [
                (name, POLICY_WORDS[name], about, name == built.policy)
                for name, about in POLICIES.items()
            ],
            "saved": saved,
            "is_own": saved is not None and saved.user_id == self.user.pk,
            "ask": ask,
            "added": _last(built, added),
        }
        if not fragment:
            context |= self._beside()
        if not template:
            template = "allocator/whatif/form.html" if fragment else self.template_name
        return render(self.request, template, context)

    def _beside(self) -> dict[str, Any]:
        return {
            "runs": runs_of(self.user, self.cluster)[:SHOWN],
            "scenarios": scenarios_for(self.user, self.cluster).defer("document")[
                :SHOWN
            ],
        }


def known_names(snapshot: Snapshot) -> dict[str, list[str]]:
    """What fields offer while somebody types, by :attr:`FieldKind.known`."""
    found = {
        "nodes": sorted(snapshot.nodes),
        "classes": sorted(snapshot.classes),
        "namespaces": sorted(
            snapshot.namespaces or {key[0] for key in snapshot.claims}
        ),
        "drivers": sorted({key.driver for key in snapshot.pools}),
        "claims": ["/".join(key) for key in sorted(snapshot.claims)],
        "templates": ["/".join(key) for key in sorted(snapshot.templates)],
    }
    return {name: names[:KNOWN] for name, names in found.items()}


def _sections(built: Built) -> list[dict[str, Any]]:
    return [
        {
            "name": "edits",
            "title": "What changes",
            "empty": "Nothing changes: the cluster as it is.",
            "rows": built.rows["edits"],
            "kinds": OF_SECTION["edits"],
            "add": "Change something",
        },
        {
            "name": "workload",
            "title": "What is placed then",
            "empty": "Nothing is placed: only the changes are looked at.",
            "rows": built.rows["workload"],
            "kinds": OF_SECTION["workload"],
            "add": "Place something",
        },
    ]


def _last(built: Built, step: str) -> str:
    """The name of the row that a step has added: the last of its section."""
    words = step.split()
    if len(words) != 3 or words[0] != "add":
        return ""
    rows = built.rows["edits"] if words[1] == "edits" else built.rows["workload"]
    return rows[-1].name if rows else ""


def _title(built: Built) -> str:
    first = built.sentences[0].rstrip(".") if built.sentences else "Scenario"
    more = f" and {len(built.sentences) - 1} more" if len(built.sentences) > 1 else ""
    return f"{shorten(first, 90, placeholder=' …')}{more}"


def _tried(run: WhatIfRun, change: str) -> dict[str, Any] | None:
    """The scenario with a change that its answer offers; None where there is none."""
    if not change or run.result is None:
        return None
    return changed(run.document, run.result, change)


def _is_same(saved: SavedScenario | None, scenario: Scenario) -> bool:
    if saved is None:
        return False
    return json.dumps(saved.document, sort_keys=True) == json.dumps(
        write_scenario(scenario), sort_keys=True
    )


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 18 else 0
