"""The editor of one draft: form, text and live answer over one text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from claims.authoring.editing import Editing
from claims.authoring.form.subjects import has_flat_layout
from claims.models import Draft
from claims.queries.objects import row_of
from claims.services import drafts, objects
from claims.services.drafts import (
    Base,
    DraftChanged,
    DraftGone,
    DraftRefused,
    DraftSaved,
)
from claims.views.editor import rounds
from claims.views.editor.base import OfDraft
from claims.views.editor.created import created_href
from claims.views.editor.files import file_name
from claims.views.editor.shapes import element_id
from claims.views.editor.writing import Results, causes_for, why_not_written, written
from web.doors import Role, role_of
from web.namespaces import may_write_in

_DRY: Final = "dry-run"
_WRITES: Final = (_DRY, "create")
OPERATORS: Final = ("Exists", "Equal")
EFFECTS: Final = ("NoSchedule", "NoExecute", "None")


@method_decorator(never_cache, name="dispatch")
class DraftPage(OfDraft):
    """GET shows the draft, POST takes a change and answers with all that it changed."""

    template_name = "claims/editor/draft.html"

    def get(self, request: HttpRequest, **_kwargs: object) -> HttpResponse:
        _ = self.cluster
        draft = self.draft
        editing = rounds.edited(
            rounds.Posted(draft.text, draft.selected, draft.revision, {}, "")
        )
        return render(request, self.template_name, self._context(editing, draft))

    def post(self, request: HttpRequest, **_kwargs: object) -> HttpResponse:
        given = rounds.posted(request.POST)
        if given.text and drafts.is_gone(self.kwargs["draft"]):
            return self._gone(given)
        draft = self.draft
        if given.step == "discard":
            return self._discarded(draft)
        if given.step == "stored":
            return self._moved(self.here())
        editing = rounds.edited(given)
        if given.step == "rename":
            editing = replace(editing, focus="metadata.name")
        draft, conflict, problem = self._saved(given, editing)
        results = None
        if given.step in _WRITES and not conflict and not problem:
            results = written(
                self.cluster, request.user, draft, editing, dry_run=given.step == _DRY
            )
            if results.complete and not results.dry_run:
                return self._created(draft, results)
        context = self._context(
            editing,
            draft,
            conflict=conflict,
            problem=problem or editing.problem,
            results=results,
        )
        if conflict or problem:
            context |= {"revision": given.revision, "saved": False}
        return self._answered(editing, context)

    def _answered(self, editing: Editing, context: dict[str, Any]) -> HttpResponse:
        if not getattr(self.request, "htmx", None):
            return render(self.request, self.template_name, context)
        context["state"] |= {"text": editing.text, "saved": context["saved"]}
        return render(self.request, "claims/editor/round.html", context)

    def _gone(self, given: rounds.Posted) -> HttpResponse:
        """The draft was discarded or created elsewhere; what was typed here is not lost."""
        editing = rounds.edited(given)
        if given.step in ("discard", "stored"):
            return self._moved(self.url("new-claim"))
        title = rounds.title_of(editing)
        if given.step == "keep":
            made = drafts.new_draft(
                self.request.user, self.cluster, editing.text, title=title
            )
            if isinstance(made, DraftSaved):
                return self._moved(self.url("draft", made.draft.pk))
            problem = made.reason
        else:
            problem = DraftGone().reason
        draft = Draft(
            pk=self.kwargs["draft"],
            title=title,
            revision=given.revision,
            updated_at=timezone.now(),
        )
        self.draft = draft
        context = self._context(editing, draft, problem=problem)
        return self._answered(editing, context | {"saved": False, "gone": True})

    def _saved(self, given: rounds.Posted, editing: Editing) -> tuple[Draft, str, str]:
        """The draft as it is stored now, and why it is not as it was sent: somebody
        else was first, or it cannot be kept."""
        draft = self.draft
        if given.step == "overwrite":
            given = replace(given, revision=draft.revision)
        outcome = rounds.saved(
            self.request.user, draft, editing, given, base=self._base(given.step)
        )
        match outcome:
            case DraftSaved(saved):
                return saved, "", ""
            case DraftChanged():
                return draft, outcome.reason, ""
            case DraftGone() | DraftRefused():
                return draft, "", outcome.reason

    def _base(self, step: str) -> Base | None:
        """Another object to replace, where the step says so; else None."""
        draft = self.draft
        if step == "anew":
            return Base("", "", "", "", "")
        key = (draft.base_kind, draft.base_namespace, draft.base_name)
        row = row_of(self.cluster, *key) if step == "onto-newest" else None
        if row is None:
            return None
        meta = row.raw.get("metadata") or {}
        return Base(*key, row.uid, str(meta.get("resourceVersion") or ""))

    # --- the parts of the page ---

    def _context(
        self,
        editing: Editing,
        draft: Draft,
        *,
        conflict: str = "",
        problem: str = "",
        results: Results | None = None,
    ) -> dict[str, Any]:
        shown = rounds.shown(
            self.cluster,
            draft,
            editing,
            refused=causes_for(editing, results),
            writable=self._writable
            if role_of(self.request.user) is Role.AUTHOR
            else None,
        )
        return self.context(
            title=draft.title or "New claim",
            crumbs=self.crumbs("Draft"),
            shown=shown,
            editing=editing,
            document=editing.document,
            documents=editing.manifest.documents,
            form=shown.form,
            flat=has_flat_layout(editing.value),
            lists=shown.lists,
            constraint_offers=shown.constraint_offers,
            derived_on=shown.derived,
            answer=shown.answer,
            pods=shown.pods,
            revision=draft.revision,
            conflict=conflict,
            problem=problem,
            file_name=file_name(draft),
            operators=OPERATORS,
            effects=EFFECTS,
            why_not=why_not_written(self.cluster, self.request.user, editing.document),
            author=objects.author_sentence(self.cluster, self.request.user),
            outcome=results,
            saved=True,
            state={
                "revision": draft.revision,
                "focus": element_id(editing.focus) if editing.focus else "",
                "index": editing.index,
            },
            marks=shown.answer.remarks.marks,
        ) | {"draft": draft}

    def _writable(self, namespace: str) -> bool:
        user = self.request.user
        return may_write_in(user, role_of(user), self.cluster.name, namespace)

    # --- the way out ---

    def _created(self, draft: Draft, results: Results) -> HttpResponse:
        """A draft that is in the cluster as a whole is no draft any more."""
        if not results.left:
            drafts.discard(self.request.user, draft.pk)
        return self._moved(created_href(self.cluster, results))

    def _discarded(self, draft: Draft) -> HttpResponse:
        drafts.discard(self.request.user, draft.pk)
        messages.success(self.request, f"The draft “{draft.title}” is gone.")
        return self._moved(reverse("new-claim", args=[self.cluster.name]))

    def _moved(self, href: str) -> HttpResponse:
        """To another page, for htmx and for a plain form."""
        if getattr(self.request, "htmx", None):
            return HttpResponse(headers={"HX-Redirect": href})
        return HttpResponseRedirect(href)
