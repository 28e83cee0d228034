"""The text of a draft and the JSON values that it says, either of which may be edited.

The text is the one truth. Reading never fails as a whole; editing changes the lines of
what changes, and keeps comments and style.
"""

from __future__ import annotations

from claims.authoring.manifests.editing import appended, edited, removed, to_text
from claims.authoring.manifests.places import Place, place_of, place_within
from claims.authoring.manifests.reading import Document, Manifest, Problem, read

__all__ = [
    "Document",
    "Manifest",
    "Place",
    "Problem",
    "appended",
    "edited",
    "place_of",
    "place_within",
    "read",
    "removed",
    "to_text",
]
