"""The buttons that start, repeat and stop runs: POST, then to a page that tells more."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.generic import View

from allocator import queries, services
from allocator.choices import OPEN
from allocator.forms import BatchForm, ReleaseForm, RetryForm, StartRunForm
from inventory.views.kit import InCluster
from web import doors
from web.doors import RequiresRole, Role

_SHOWN = 5


class Button(RequiresRole, InCluster, View):
    """What all of them share; answers to POST only."""

    required_role = Role.OPERATOR
    http_method_names = ("post",)

    @property
    def user(self) -> User:
        assert isinstance(self.request.user, User)
        return self.request.user

    def tell(self, form: forms.Form) -> None:
        """Say what is wrong with what was sent."""
        for errors in form.errors.values():
            messages.error(self.request, " ".join(map(str, errors)))


class StartRun(Button):
    """Start a run for a pending claim and go to its page."""

    def post(self, request: HttpRequest, **_: str) -> HttpResponse:
        form = StartRunForm(request.POST)
        if not form.is_valid():
            self.tell(form)
            return redirect("claims", self.cluster.name)
        wanted = form.cleaned_data
        try:
            run = services.start_run(
                cluster=self.cluster,
                namespace=wanted["namespace"],
                claim_name=wanted["claim_name"],
                user=self.user,
                node=wanted["node"],
                policy=wanted["policy"],
                dry_run=wanted["dry_run"],
            )
        except services.RunRefused as refusal:
            messages.error(request, str(refusal))
            return redirect(
                "claim", self.cluster.name, wanted["namespace"], wanted["claim_name"]
            )
        return redirect("run", self.cluster.name, run.pk)


class StartRelease(Button):
    """Take an allocation back. Against those who use it: administrators only."""

    def post(self, request: HttpRequest, **_: str) -> HttpResponse:
        form = ReleaseForm(request.POST)
        if not form.is_valid():
            self.tell(form)
            return redirect("claims", self.cluster.name)
        wanted = form.cleaned_data
        if wanted["override"]:
            doors.check(self.user, Role.ADMIN)
        try:
            run = services.start_release(
                cluster=self.cluster,
                namespace=wanted["namespace"],
                claim_name=wanted["claim_name"],
                user=self.user,
                dry_run=wanted["dry_run"],
                override=wanted["override"],
            )
        except services.RunRefused as refusal:
            messages.error(request, str(refusal))
            return redirect(
                "claim", self.cluster.name, wanted["namespace"], wanted["claim_name"]
            )
        return redirect("run", self.cluster.name, run.pk)


class RetryRun(Button):
    """Start another run like this one."""

    def post(self, request: HttpRequest, pk: str, **_: str) -> HttpResponse:
        run = get_object_or_404(queries.runs(self.cluster), pk=pk)
        form = RetryForm(request.POST)
        dry_run = False if form.is_valid() and form.cleaned_data["write"] else None
        try:
            again = services.retry_run(run=run, user=self.user, dry_run=dry_run)
        except services.RunRefused as refusal:
            messages.error(request, str(refusal))
            return redirect("run", self.cluster.name, run.pk)
        return redirect("run", self.cluster.name, again.pk)


class CancelRun(Button):
    """Stop a run that has sent nothing final yet."""

    def post(self, request: HttpRequest, pk: str, **_: str) -> HttpResponse:
        run = get_object_or_404(queries.runs(self.cluster), pk=pk)
        try:
            services.cancel_run(run=run, user=self.user)
        except services.RunRefused as refusal:
            messages.error(request, str(refusal))
        return redirect("run", self.cluster.name, run.pk)


class StartBatch(Button):
    """Start runs for the chosen claims and go to their page."""

    def post(self, request: HttpRequest, **_: str) -> HttpResponse:
        form = BatchForm(request.POST)
        if not form.is_valid():
            self.tell(form)
            return redirect("claims", self.cluster.name)
        wanted = form.cleaned_data
        try:
            started = services.start_batch(
                cluster=self.cluster,
                claims=wanted["claims"],
                user=self.user,
                policy=wanted["policy"],
                dry_run=wanted["dry_run"],
            )
        except services.RunRefused as refusal:
            messages.error(request, str(refusal))
            return redirect("claims", self.cluster.name)
        for (namespace, name), why in started.refused[:_SHOWN]:
            messages.warning(request, f"{namespace}/{name} was left out. {why}")
        if (more := len(started.refused) - _SHOWN) > 0:
            messages.warning(request, f"{more} more were left out.")
        return redirect("run-batch", self.cluster.name, started.batch.pk)


class CancelBatch(Button):
    """Stop every run of a batch that can still be stopped."""

    def post(self, request: HttpRequest, pk: str, **_: str) -> HttpResponse:
        batch = get_object_or_404(queries.batches(self.cluster), pk=pk)
        late = 0
        for run in queries.runs(self.cluster).filter(batch=batch, state__in=OPEN):
            try:
                services.cancel_run(run=run, user=self.user)
            except services.RunRefused:
                late += 1
        if late:
            messages.warning(
                request,
                f"{late} of them had sent their allocation already and go on.",
            )
        return redirect("run-batch", self.cluster.name, batch.pk)


class WriteBatch(Button):
    """Make what a batch of plans has shown happen: the same claims, planned anew."""

    def post(self, request: HttpRequest, pk: str, **_: str) -> HttpResponse:
        batch = get_object_or_404(queries.batches(self.cluster), pk=pk)
        runs = queries.runs(self.cluster).filter(batch=batch).order_by("position")
        claims = list(runs.values_list("namespace", "claim_name"))
        policy = runs.values_list("policy", flat=True).first() or ""
        try:
            started = services.start_batch(
                cluster=self.cluster, claims=claims, user=self.user, policy=policy
            )
        except services.RunRefused as refusal:
            messages.error(request, str(refusal))
            return redirect("run-batch", self.cluster.name, batch.pk)
        if started.refused:
            messages.warning(request, f"{len(started.refused)} claims were left out.")
        return redirect("run-batch", self.cluster.name, started.batch.pk)
