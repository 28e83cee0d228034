"""One expression on one device: what every part of it is."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.safestring import SafeString
from django.views.generic import View

from allocator import snapshots
from claims.views.cel import steps, wording
from claims.views.cel.page import (
    MOST_CHARACTERS,
    example_links,
    is_fragment,
)
from claims.views.cel.question import Question
from claims.views.cel.readable import Readable, readable_of
from claims.views.cel.remarks import (
    Problem,
    Remark,
    diagnoses,
    diagnostics,
    refusal_of,
    remarks_of,
)
from dra.names import DeviceID
from dra.snapshot import Snapshot
from inventory import selecting
from inventory.models import Cluster
from inventory.selecting import Answer, Deadline, DeviceAnswer, NoSuchDevice
from inventory.views.cel_reasons import reason
from inventory.views.kit import InCluster
from web.doors import RequiresRole
from web.pages import Crumb


class CelOnDevice(RequiresRole, InCluster, View):
    """The page of one device and one expression; with htmx the answer alone."""

    def get(
        self, request: HttpRequest, driver: str, pool: str, device: str, **_: str
    ) -> HttpResponse:
        found = DeviceID(driver, pool, device)
        question = Question(expression=Question.of(request.GET).expression)
        snapshot = snapshots.current(self.cluster)
        try:
            results = DeviceResults(self.cluster, snapshot, question, found)
        except NoSuchDevice as problem:
            raise Http404(str(problem)) from None
        fragment = is_fragment(request)
        context: dict[str, Any] = {
            "cluster": self.cluster,
            "device": found,
            "question": question,
            "results": results,
            "fragment": fragment,
        }
        if not fragment:
            context |= self._page(found, snapshot, results)
        part = "#cel-results" if fragment else ""
        response = render(request, f"claims/cel_device.html{part}", context)
        patch_vary_headers(response, ("HX-Request", "HX-Target"))
        return response

    def _page(
        self, device: DeviceID, snapshot: Snapshot, results: DeviceResults
    ) -> dict[str, Any]:
        return {
            "title": f"CEL on device {device.device}",
            "crumbs": [
                self.cluster_crumb(),
                Crumb("CEL", f"{self.url('cel')}{results.question.query}"),
                Crumb(
                    f"{device.driver}/{device.pool}",
                    self.url("pool", device.driver, device.pool),
                ),
                Crumb(device.device),
            ],
            "most_characters": MOST_CHARACTERS,
            "examples": example_links(snapshot, results.table, results.question)[:1],
            "device_href": self.url("device", *device),
        }


class DeviceResults:
    """What came out. Raises :class:`NoSuchDevice`."""

    def __init__(
        self,
        cluster: Cluster,
        snapshot: Snapshot,
        question: Question,
        device: DeviceID,
    ) -> None:
        self.cluster = cluster
        self.snapshot = snapshot
        self.question = question
        self.device = device
        self.features = selecting.features_of(cluster)
        self.table = snapshot.devices(lists=self.features.list_type_attributes)
        self.traced = selecting.device_trace(
            snapshot, question.expression, device, features=self.features
        )
        row = self.table.ids.row(device)
        assert row is not None  # it was traced
        self.row = row

    @property
    def state(self) -> str:
        """As on the page of all devices."""
        if not self.question.asked:
            return "nothing"
        return "refused" if self.traced.trace is None else "answered"

    @cached_property
    def _reason(self) -> DeviceAnswer | None:
        """The term that decides; for an expression that has an answer or fails."""
        program = selecting.compiled(self.traced.expression, self.features).program
        if program is None or self.state != "answered":
            return None
        return reason(program, self.table, self.row, Deadline())

    @property
    def sentence(self) -> str:
        match self.state:
            case "nothing":
                return "Type an expression to see every part of it on this device."
            case "refused":
                return wording.REFUSED
        trace = self.traced.trace
        assert trace is not None
        said = wording.of_one_device(result=trace.result, error=trace.error)
        if self.traced.too_expensive:
            return f"{wording.TOO_EXPENSIVE} {said}"
        return said

    @property
    def tone(self) -> str:
        trace = self.traced.trace
        if self.state == "nothing":
            return ""
        if trace is None or trace.result is None or self.traced.too_expensive:
            return "bad"
        return "ok" if trace.result else "warn"

    @property
    def icon(self) -> str:
        return {"ok": "check", "bad": "alert", "warn": "x"}.get(self.tone, "cel")

    @property
    def because(self) -> str:
        """The term that is false, or fails; empty where it is all of the expression."""
        return self._reason.why if self._reason else ""

    @property
    def because_words(self) -> str:
        failed = self._reason is not None and self._reason.outcome == "error"
        return "This term fails:" if failed else "This term is false:"

    @property
    def refusal(self) -> list[Problem]:
        if self.state == "nothing":
            return []
        return refusal_of(selecting.compiled(self.traced.expression, self.features))

    @property
    def remarks(self) -> list[Remark]:
        if self._answer is None:
            return []
        return remarks_of(self._answer, self.question, self.cluster.name)

    @property
    def diagnostics(self) -> SafeString:
        """For the editor of the page; empties it where there is nothing wrong."""
        if self._answer is None:
            return diagnostics("cel-expression", ())
        return diagnostics("cel-expression", diagnoses(self._answer))

    @cached_property
    def _answer(self) -> Answer | None:
        """All there is to say about a text that is refused."""
        if self.state == "nothing" or self.traced.valid:
            return None
        return selecting.answer(
            self.snapshot, self.question.expression, features=self.features, first=0
        )

    @property
    def all_href(self) -> str:
        return f"{reverse('cel', args=[self.cluster.name])}{self.question.query}"

    # --- the evidence ---

    @cached_property
    def _steps(self) -> tuple[list[steps.StepRow], int]:
        trace = self.traced.trace
        if trace is None or self.state != "answered":
            return [], 0
        return steps.rows(trace.root, decisive=self.because)

    @property
    def steps(self) -> list[steps.StepRow]:
        return self._steps[0]

    @property
    def more_steps(self) -> int:
        return self._steps[1]

    @cached_property
    def readable(self) -> Readable:
        return readable_of(self.table, self.row, self.question)
