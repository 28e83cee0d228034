"""Where a new claim begins: blank, an example, a pasted manifest, a copy, or a draft."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.generic import View

from allocator import snapshots
from claims.authoring import form, manifests
from claims.authoring.editing import edit
from claims.authoring.gallery import gallery
from claims.queries.objects import row_of
from claims.services import drafts
from claims.services.drafts import Base, DraftRefused
from claims.views.editor.parts import SERVERS_OWN
from claims.views.editor.rounds import title_of
from inventory.models import MirroredObject
from inventory.views.kit import InCluster
from web.doors import RequiresRole, Role
from web.pages import Crumb

DRAFTS_SHOWN: Final = 50
_OF_THIS_ONE: Final = ("ownerReferences", "finalizers")
"""What a copy must not have, and a changed object must not lose."""
_NOTES_OF_THIS_ONE: Final = (
    "resource.kubernetes.io/",
    "dra-portal.io/",
    "kubectl.kubernetes.io/last-applied-configuration",
)
"""How annotations begin that tell where an object came from."""
_HEAD: Final = ("apiVersion", "kind", "metadata", "status")


class NewClaim(InCluster, RequiresRole, View):
    """GET shows the ways to begin, POST begins a draft and leads to it."""

    required_role = Role.VIEWER
    request: HttpRequest

    def get(self, request: HttpRequest, **_kwargs: object) -> HttpResponse:
        cluster = self.cluster
        examples = gallery(cluster, snapshots.current(cluster))
        return render(
            request,
            "claims/editor/start.html",
            {
                "cluster": cluster,
                "title": "New claim",
                "crumbs": [
                    self.cluster_crumb(),
                    Crumb("Claims", self.url("claims")),
                    Crumb("New claim"),
                ],
                "examples": examples,
                "drafts": drafts.drafts_of(request.user, cluster)[:DRAFTS_SHOWN],
            },
        )

    def post(self, request: HttpRequest, **_kwargs: object) -> HttpResponse:
        data = request.POST
        match data.get("from", ""):
            case "blank":
                begun = self._blank(data)
            case "example":
                begun = self._example(data.get("example", ""))
            case "text":
                begun = (data.get("text", ""), "pasted")
            case "copy":
                begun = self._copy(data)
            case "edit":
                return self._edit(data)
            case _:
                raise Http404("There is no such way to begin a draft.")
        return self._begun(*begun)

    def _begun(self, text: str, origin: str, base: Base | None = None) -> HttpResponse:
        text = text.replace("\r\n", "\n")
        editing = edit(text)
        made = drafts.new_draft(
            self.request.user,
            self.cluster,
            text,
            title=title_of(editing),
            origin=origin,
            selected=_first_with_form(editing),
            base=base,
        )
        if isinstance(made, DraftRefused):
            messages.error(self.request, made.reason)
            return redirect(self.url("new-claim"))
        return redirect(self.url("draft", made.draft.pk))

    def _blank(self, data: QueryDict) -> tuple[str, str]:
        kind, namespace = data.get("kind", ""), data.get("namespace", "")[:63]
        if kind not in form.KINDS:
            raise Http404(f"There is no form for {kind[:60]!r}.")
        value = form.blank(kind, namespace, data.get("class", ""))
        return manifests.to_text(value), "begun blank"

    def _example(self, key: str) -> tuple[str, str]:
        for example in gallery(self.cluster, snapshots.current(self.cluster)):
            if example.code == key:
                text = ""
                for document in example.documents:
                    text = manifests.appended(text, document)
                return text, f"example: {example.title}"
        raise Http404("There is no such example in this cluster (any more).")

    def _copy(self, data: Any) -> tuple[str, str]:
        row = self._row(data)
        value = _bare(row.raw, *_OF_THIS_ONE)
        name = str(value.get("metadata", {}).get("name") or "copy")
        meta = value["metadata"]
        meta["name"] = f"{name[:240]}-copy"
        meta.pop("generateName", None)  # the name that it led to counts no more
        notes = meta.pop("annotations", None) or {}
        kept = {k: v for k, v in notes.items() if not k.startswith(_NOTES_OF_THIS_ONE)}
        if kept:
            meta["annotations"] = kept
        return manifests.to_text(value), f"copy of {data.get('kind')} {row}"

    def _edit(self, data: Any) -> HttpResponse:
        row = self._row(data)
        meta = row.raw.get("metadata") or {}
        base = Base(
            kind=data.get("kind", ""),
            namespace=str(meta.get("namespace") or ""),
            name=str(meta.get("name") or ""),
            uid=str(meta.get("uid") or ""),
            resource_version=str(meta.get("resourceVersion") or ""),
        )
        value = _bare(row.raw)
        text = manifests.to_text(value)
        return self._begun(text, f"change of {base.kind} {row}", base)

    def _row(self, data: Any) -> MirroredObject:
        row = row_of(
            self.cluster,
            data.get("kind", ""),
            data.get("namespace", ""),
            data.get("name", ""),
        )
        if row is None:
            raise Http404("It is not in the cluster (any more).")
        return row


def _bare(raw: dict[str, Any], *without: str) -> dict[str, Any]:
    """What a person would have written: without what the server keeps, and the status."""
    meta = {
        name: value
        for name, value in (raw.get("metadata") or {}).items()
        if name not in (*SERVERS_OWN, *without)
    }
    return {
        "apiVersion": raw.get("apiVersion"),
        "kind": raw.get("kind"),
        "metadata": meta,
        **{k: v for k, v in raw.items() if k not in _HEAD},
    }


def _first_with_form(editing: Any) -> int:
    for document in editing.manifest.documents:
        if document.kind in form.KINDS:
            return int(document.index)
    return 0
