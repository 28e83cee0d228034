"""Filters with bounds: what somebody types is never longer than a name can be."""

from __future__ import annotations

from typing import Any

import django_filters
from django import forms
from django.db.models import Q, QuerySet
from drf_spectacular.drainage import set_override

MAX_TEXT = 253
"""The longest name that Kubernetes allows."""


class SearchFilter(django_filters.CharFilter):
    """Rows where any of ``fields`` contains the text; several words must all occur."""

    def __init__(self, *, fields: tuple[str, ...], placeholder: str = "", **kw: Any):
        self.fields = fields
        kw.setdefault("label", "Search")
        widget = forms.TextInput(
            attrs={"type": "search", "placeholder": placeholder, "autocomplete": "off"}
        )
        super().__init__(max_length=MAX_TEXT, widget=widget, **kw)

    def filter(self, qs: QuerySet[Any], value: str) -> QuerySet[Any]:
        for word in (value or "").split()[:10]:
            qs = qs.filter(self.match(word))
        return qs

    def match(self, word: str) -> Q:
        """What one word may be found in."""
        match = Q()
        for field in self.fields:
            match |= Q(**{f"{field}__icontains": word})
        return match


class TextFilter(django_filters.CharFilter):
    """Exactly this text (of a name); bounded."""

    def __init__(self, **kw: Any):
        super().__init__(max_length=MAX_TEXT, **kw)


class ChoiceFilter(django_filters.ChoiceFilter):
    """One of the given choices; "any" when empty."""

    def __init__(self, **kw: Any):
        kw.setdefault("empty_label", "any")
        super().__init__(**kw)


class YesNoFilter(django_filters.ChoiceFilter):
    """``true`` or ``false`` on a boolean column; people choose between words."""

    def __init__(self, *, yes: str = "yes", no: str = "no", **kw: Any):
        kw.setdefault("empty_label", "any")
        super().__init__(choices=[("true", yes), ("false", no)], **kw)
        # Without this the document has a boolean whose values are texts.
        words = f"{self.label}: true is “{yes}”, false is “{no}”."
        set_override(self, "field", {"type": "boolean", "description": words})

    def filter(self, qs: QuerySet[Any], value: str) -> QuerySet[Any]:
        if value not in {"true", "false"}:
            return qs
        return qs.filter(**{str(self.field_name): value == "true"})
