"""The part of the answer that takes longer: changes after which a draft would fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from allocator import snapshots
from claims.authoring.editing import Editing
from claims.authoring.manifests import Document
from claims.authoring.previewing import keystroke, previewed
from claims.authoring.together import with_brought
from claims.views.editor.base import OfDraft
from claims.views.editor.pods import pods_in
from claims.views.editor.relaxing import changes_of
from claims.views.editor.rounds import CHANGES_SECONDS, claim_shown, edited, posted
from dra.objects import ResourceClaim
from dra.snapshot import Snapshot


class DraftChanges(OfDraft):
    """Asked for by the page when a draft does not fit; given up when it is typed on.

    ``?pod=`` is the place of a kind of pod among those of the text: asked about then are
    all claims that it needs together. Else it is the claim that the form shows.
    """

    http_method_names = ("post",)

    def post(self, request: HttpRequest, **_kwargs: object) -> HttpResponse:
        editing = edited(posted(request.POST))
        pod = request.GET.get("pod", "")
        world = with_brought(
            snapshots.current(self.cluster), editing.manifest.documents
        )
        context = self.context(changes=[], complete=True, pod=pod)
        if pod:
            context |= self._of_pod(world, editing, pod)
        else:
            claim = claim_shown(editing)
            if claim is not None:
                context |= self._found(world, editing, [claim], [editing.document])
        return render(request, "claims/editor/changes.html", context)

    def _of_pod(self, world: Snapshot, editing: Editing, pod: str) -> dict[str, Any]:
        pods = pods_in(self.cluster, editing, world)
        found = {str(place): each for place, each in enumerate(pods)}
        workload, documents = found.get(pod), editing.manifest.documents
        if workload is None:
            return {}
        return self._found(
            world,
            editing,
            workload.claims,
            [None if n is None else documents[n] for n in workload.origins],
            workload.node_names,
            key=pod,
        )

    def _found(
        self,
        world: Snapshot,
        editing: Editing,
        claims: Sequence[ResourceClaim],
        documents: Sequence[Document | None],
        node_names: Sequence[str] | None = None,
        *,
        key: str = "",
    ) -> dict[str, Any]:
        if not claims:
            return {}
        found = previewed(
            self.cluster,
            world,
            claims,
            node_names=node_names,
            relax=True,
            seconds=CHANGES_SECONDS,
            stop=keystroke((self.draft.pk, "changes", key)),
        )
        changes = changes_of(found, claims, documents, editing.index)
        return {"changes": list(changes), "complete": found.complete}
