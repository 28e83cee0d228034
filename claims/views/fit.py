"""Would this claim fit now? One sentence, asked for by the claim's page after it is shown."""

from __future__ import annotations

import time
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.generic import View

from allocator import snapshots
from dra.allocation import AllocationError, Budget, Features, Fits, GaveUp, place
from dra.errors import NotSupportedError
from dra.objects import DeviceResult, ResourceClaim
from dra.snapshot import Snapshot
from inventory.views.kit import InCluster
from web.doors import RequiresRole

SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Answer:
    """``tone`` is ok, warn or bad; ``results`` are the devices it would get."""

    tone: str
    sentence: str
    node_name: str = ""
    results: tuple[DeviceResult, ...] = ()


class ClaimFit(RequiresRole, InCluster, View):
    """The fragment with the answer that a run would get, in "as documented" mode."""

    def get(
        self, request: HttpRequest, namespace: str, name: str, **_: str
    ) -> HttpResponse:
        snapshot = snapshots.current(self.cluster)
        claim = snapshot.claims.get((namespace, name))
        if claim is None:
            raise Http404(f"There is no claim {namespace}/{name} (any more).")
        deadline = time.monotonic() + SECONDS
        budget = Budget(stop=lambda: time.monotonic() > deadline)
        features = Features.of_server(self.cluster.version)
        return render(
            request,
            "claims/fit.html",
            {
                "answer": answer_of(snapshot, claim, budget, features),
                "cluster": self.cluster,
                "seq": snapshot.seq,
            },
        )


def answer_of(
    snapshot: Snapshot, claim: ResourceClaim, budget: Budget, features: Features
) -> Answer:
    """The outcome as a person reads it."""
    try:
        outcome = place(snapshot, [claim], budget=budget, features=features)
    except NotSupportedError as error:
        return Answer("warn", f"This portal cannot tell yet: {error}.")
    except AllocationError as error:
        return Answer("bad", f"The claim cannot be allocated as it is: {error}.")
    match outcome:
        case Fits(node_name, allocations):
            results = tuple(allocations[0].devices.results or ())
            if snapshot.doubts:
                words = f"Would fit on {node_name}, but: {snapshot.doubts[0]}"
                return Answer("warn", words, node_name, results)
            return Answer("ok", f"Fits now on {node_name}.", node_name, results)
        case GaveUp():
            return Answer("warn", f"Undecided: {outcome.reason}")
        case _:
            return Answer("warn", f"Fits nowhere now. {outcome.reason}")
