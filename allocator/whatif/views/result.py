"""The answer of a what-if, its buttons, and two answers beside each other."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.generic import View

from allocator.choices import WhatIfState
from allocator.models import WhatIfRun
from allocator.whatif.comparing import Comparison, compare
from allocator.whatif.documents import as_json, as_yaml
from allocator.whatif.running import (
    WhatIfRefused,
    ask_again,
    cancel_what_if,
    runs_of,
)
from allocator.whatif.saved import scenario_for
from allocator.whatif.views.shown import shown
from dra.whatif import ScenarioError, of_scenario, read_scenario
from inventory.views.kit import ClusterDetail, InCluster
from web.doors import RequiresRole, Role, role_of
from web.pages import Crumb, Fact, Heading, cells

STEPS = {
    "editing": "carrying out the changes",
    "moving": "placing what had to move",
    "placing": "placing copies",
    "helping": "looking for changes that would help",
    "counting": "counting what changed",
}
REFRESH_SECONDS = 2
SIDES = ("first", "second")


def may_stop(user: object, run: WhatIfRun) -> bool:
    """Its owner, and operators."""
    assert isinstance(user, User)
    role = role_of(user)
    return user.pk == run.user_id or (role is not None and role.includes(Role.OPERATOR))


class WhatIfPage(ClusterDetail[WhatIfRun]):
    """One answer. Everybody with a role who has the address may read it."""

    template_name = "allocator/whatif/run.html"
    fragments = ("what-if-body",)

    def load(self) -> WhatIfRun:
        runs = WhatIfRun.objects.select_related("user", "scenario", "previous")
        return get_object_or_404(runs, cluster=self.cluster, pk=self.kwargs["pk"])

    def heading(self) -> Heading:
        run = self.object
        return Heading(
            kind="What if",
            name=run.title or "Scenario",
            badges=[cells.badge(run.state), *self._fits()],
            sentence=run.reason,
            crumbs=[
                self.cluster_crumb(),
                Crumb("What-if", self.url("what-if")),
                Crumb(run.title or "Scenario"),
            ],
        )

    def _fits(self) -> list[Any]:
        run = self.object
        if run.fits is None:
            return []
        if run.fits:
            return [cells.toned("ok", "check", "fits")]
        return [cells.toned("warn", "alert", "not everything fits")]

    def facts(self) -> list[Fact]:
        run = self.object
        found = [Fact("Asked by", str(run.user))]
        if run.snapshot_at is not None:
            found += [
                Fact("Cluster as of", cells.ago(run.snapshot_at)),
                Fact("Change number", f"{run.snapshot_seq or 0:,}"),
            ]
        if run.seconds is not None and not run.is_open:
            found.append(Fact("Took", f"{run.seconds:.2f} s"))
        return found

    def extra(self) -> dict[str, object]:
        run = self.object
        scenario = read_scenario(run.document)
        saved = run.scenario
        if saved is not None:
            saved = scenario_for(self.request.user, saved.pk)  # type: ignore[arg-type]  # signed in, the door saw to it
        return super().extra() | {
            "run": run,
            "sentences": of_scenario(scenario)[:100],
            "shown": shown(self.cluster, run.result, run.document)
            if run.result
            else None,
            "saved": saved,
            "may_stop": may_stop(self.request.user, run),
            "step_words": STEPS.get(run.step, "waiting for a worker"),
            "share": run.done / run.total if run.total else 0,
            "refresh": REFRESH_SECONDS,
            "since": self._since_then(),
            "changed_since": run.snapshot_seq is not None
            and run.snapshot_seq != self.cluster.seq,
        }

    def _since_then(self) -> object:
        """The comparison with the run that this one asks again."""
        run = self.object
        before = run.previous.result if run.previous else None
        if before is None or run.result is None or run.is_open:
            return None
        return compare(before, run.result)

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        wanted = request.GET.get("format", "")
        if wanted in ("yaml", "json", "result"):
            return self._file(wanted)
        return super().get(request, *args, **kwargs)

    def _file(self, wanted: str) -> HttpResponse:
        """The scenario, or for ``result`` the answer as it is stored."""
        run = self.load()
        name = f"what-if-{str(run.pk)[:8]}"
        if wanted != "result":
            return scenario_file(run.document, name, wanted)
        return _download(json.dumps(run.result, indent=2), f"{name}-answer", "json")


def scenario_file(document: Any, name: str, wanted: str) -> HttpResponse:
    """A download that the builder, REST and the command line read back."""
    scenario = read_scenario(document)
    text = as_json(scenario) if wanted == "json" else as_yaml(scenario)
    return _download(text, name, wanted)


def _download(text: str, name: str, wanted: str) -> HttpResponse:
    kind = "application/json" if wanted == "json" else "application/yaml"
    return HttpResponse(
        text,
        content_type=f"{kind}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.{wanted}"'},
    )


class WhatIfButton(InCluster, RequiresRole, View):
    """POST: cancel a run, or ask it again."""

    required_role = Role.VIEWER
    http_method_names = ("post",)
    request: HttpRequest

    @cached_property
    def run(self) -> WhatIfRun:
        runs = WhatIfRun.objects.select_related("cluster", "scenario")
        return get_object_or_404(runs, cluster=self.cluster, pk=self.kwargs["pk"])

    @property
    def user(self) -> User:
        assert isinstance(self.request.user, User)
        return self.request.user


class CancelWhatIf(WhatIfButton):
    def post(self, request: HttpRequest, **_kwargs: object) -> HttpResponse:
        if not may_stop(request.user, self.run):
            messages.error(request, "Only who asked, or an operator, may cancel this.")
        else:
            try:
                cancel_what_if(run=self.run)
            except WhatIfRefused as refusal:
                messages.error(request, str(refusal))
        return redirect(self.url("what-if-run", self.run.pk))


class AgainWhatIf(WhatIfButton):
    def post(self, request: HttpRequest, **_kwargs: object) -> HttpResponse:
        try:
            made = ask_again(run=self.run, user=self.user)
        except ScenarioError as error:
            messages.error(
                request,
                f"The scenario does not go with the cluster as it is now: {error}. "
                "Change it and run it anew.",
            )
        except WhatIfRefused as refusal:
            messages.error(request, str(refusal))
        else:
            return redirect(self.url("what-if-run", made.pk))
        return redirect(self.url("what-if-run", self.run.pk))


class CompareWhatIfs(InCluster, RequiresRole, View):
    """GET ``?first=…&second=…``: two answers of this cluster beside each other."""

    required_role = Role.VIEWER
    request: HttpRequest

    def get(self, request: HttpRequest, **_kwargs: object) -> HttpResponse:
        _ = self.cluster
        sides = {name: self._side(request.GET.get(name, "")) for name in SIDES}
        comparison = self._compared(*sides.values())
        assert isinstance(request.user, User)
        return render(
            request,
            "allocator/whatif/compare.html",
            {
                "cluster": self.cluster,
                "title": "Compare what-ifs",
                "crumbs": [
                    self.cluster_crumb(),
                    Crumb("What-if", self.url("what-if")),
                    Crumb("Compare"),
                ],
                "sides_named": list(sides.items()),
                "comparison": comparison,
                "choices": runs_of(request.user, self.cluster).filter(
                    state=WhatIfState.DONE
                )[:50],
            },
        )

    def _compared(
        self, first: dict[str, Any] | None, second: dict[str, Any] | None
    ) -> Comparison | None:
        """None while one is missing, or has no answer yet."""
        if first is None or second is None:
            return None
        results = [side["run"].result for side in (first, second)]
        if None in results:
            return None
        found = compare(*results)
        first["only"], second["only"] = found.only_first[:50], found.only_second[:50]
        return found

    def _side(self, text: str) -> dict[str, Any] | None:
        if not text:
            return None
        try:
            key = UUID(text)
        except ValueError:
            raise Http404("There is no such what-if.") from None
        runs = WhatIfRun.objects.select_related("user")
        run = get_object_or_404(runs, cluster=self.cluster, pk=key)
        return {
            "run": run,
            "sentences": of_scenario(read_scenario(run.document))[:30],
            "shown": shown(self.cluster, run.result, run.document)
            if run.result
            else None,
        }
