"""A draft as a file."""

from __future__ import annotations

import re

from django.http import HttpRequest, HttpResponse

from claims.models import Draft
from claims.views.editor.base import OfDraft


class DraftYaml(OfDraft):
    """The text as it is, to be saved."""

    def get(self, request: HttpRequest, **_kwargs: object) -> HttpResponse:
        return HttpResponse(
            self.draft.text,
            content_type="application/yaml; charset=utf-8",
            headers={
                "Content-Disposition": f'attachment; filename="{file_name(self.draft)}"'
            },
        )


def file_name(draft: Draft) -> str:
    """A name that every file system and shell takes."""
    words = re.sub(r"[^A-Za-z0-9.]+", "-", draft.title).strip("-.").lower()
    return f"{words[:80] or 'draft'}.yaml"
