"""The buttons of a repair: POST, then back to the finding's page; and the way there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.generic import View

from allocator.findings import queries
from allocator.findings.views.detail import find
from allocator.models import Finding
from allocator.repairs import asking
from allocator.repairs.forms import (
    ClaimForm,
    LiftForm,
    NothingForm,
    QuarantineForm,
    ReleaseForm,
    RewriteForm,
)
from dra.audits import Code
from inventory.views.kit import InCluster
from web import doors
from web.doors import RequiresRole, Role

ALTHOUGH = ("although_used", "although_forgotten")
"""Fields that only an administrator may set."""


class RepairButton(RequiresRole, InCluster, View, ABC):
    """One step; answers to POST only. What is refused is said on the page."""

    required_role = Role.OPERATOR
    http_method_names = ("post",)
    form: ClassVar[type[forms.Form]] = NothingForm

    def post(self, request: HttpRequest, pk: int, **_: str) -> HttpResponse:
        row = find(self.cluster.pk, pk)
        form = self.form(request.POST)
        if not form.is_valid():
            for errors in form.errors.values():
                messages.error(request, " ".join(map(str, errors)))
            return redirect("finding", self.cluster.name, row.pk)
        given = form.cleaned_data
        if any(given.get(name) for name in ALTHOUGH):
            doors.check(request.user, Role.ADMIN)
        try:
            self.take(row, given)
        except asking.RepairRefused as refusal:
            messages.error(request, str(refusal))
        return redirect("finding", self.cluster.name, row.pk)

    @abstractmethod
    def take(self, row: Finding, given: dict[str, Any]) -> None:
        """The step, with what the form gave. Raises RepairRefused."""


class QuarantineButton(RepairButton):
    form = QuarantineForm

    def take(self, row: Finding, given: dict[str, Any]) -> None:
        asking.quarantine(
            row,
            self.request.user,
            wish=given["wish"] or "auto",
            hours=given["hours"] or asking.DEFAULT_HOURS,
        )


class KeepButton(RepairButton):
    form = ClaimForm

    def take(self, row: Finding, given: dict[str, Any]) -> None:
        asking.keep(row, self.request.user, given["namespace"], given["claim_name"])


class ReleaseButton(RepairButton):
    """Against another claim that holds the device too: administrators only."""

    required_role = Role.ADMIN
    form = ReleaseForm

    def take(self, row: Finding, given: dict[str, Any]) -> None:
        asking.release(
            row,
            self.request.user,
            given["namespace"],
            given["claim_name"],
            seen_version=given["seen_version"],
            although_used=given["although_used"],
        )


class RewriteButton(RepairButton):
    """Of a claim that is in use: administrators only."""

    required_role = Role.ADMIN
    form = RewriteForm

    def take(self, row: Finding, given: dict[str, Any]) -> None:
        asking.rewrite(row, self.request.user, seen_version=given["seen_version"])


class PutBackButton(RepairButton):
    """The second half of a rewriting: administrators only, as the first."""

    required_role = Role.ADMIN

    def take(self, row: Finding, given: dict[str, Any]) -> None:
        del given
        asking.put_back(row, self.request.user)


class RestartedButton(RepairButton):
    def take(self, row: Finding, given: dict[str, Any]) -> None:
        del given
        asking.restarted(row, self.request.user)


class WaitButton(RepairButton):
    def take(self, row: Finding, given: dict[str, Any]) -> None:
        del given
        asking.wait(row, self.request.user)


class LiftButton(RepairButton):
    form = LiftForm

    def take(self, row: Finding, given: dict[str, Any]) -> None:
        asking.lift(
            row,
            self.request.user,
            although_forgotten=given["although_forgotten"],
        )


class RepairOfDevice(RequiresRole, InCluster, View):
    """From a device to the finding about its double booking, the open one first."""

    def get(self, request: HttpRequest, **names: str) -> HttpResponse:
        device = "/".join(names[part] for part in ("driver", "pool", "device"))
        rows = queries.findings(self.cluster).filter(
            code=Code.DEVICE_BOOKED_TWICE, device=device
        )
        row = rows.order_by(F("ended_at").desc(nulls_first=True), "-since").first()
        if row is None:
            messages.info(
                request,
                f"No look for what is wrong has seen {device} booked twice yet. A worker "
                "looks after every change: try again in a few seconds.",
            )
            return redirect("findings", self.cluster.name)
        return redirect("finding", self.cluster.name, row.pk)
