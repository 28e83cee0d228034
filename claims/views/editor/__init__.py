"""The claim editor: write it, see it."""

from __future__ import annotations

from claims.views.editor.changes import DraftChanges
from claims.views.editor.created import CreatedPage
from claims.views.editor.files import DraftYaml
from claims.views.editor.page import DraftPage
from claims.views.editor.start import NewClaim

__all__ = ["CreatedPage", "DraftChanges", "DraftPage", "DraftYaml", "NewClaim"]
