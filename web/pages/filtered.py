"""Rows narrowed by filters, each in the URL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from django import forms
from django.db.models import Model, QuerySet
from django.forms import BoundField
from django.http import HttpRequest
from django.views.generic import View
from django_filters import FilterSet

from web.pages.addresses import with_parameters


@dataclass(frozen=True, slots=True)
class Chip:
    """One filter that is on, and the address without it."""

    label: str
    value: str
    href: str


class FilteredRows[M: Model](View):
    """The filters of a list: what they are, what is wrong with them, which are on."""

    filterset_class: ClassVar[type[FilterSet] | None] = None
    main_filter_names: ClassVar[tuple[str, ...]] = ()
    """Filters beside the search field; empty: the first five. Others fold away."""
    filters_that_answer: ClassVar[tuple[str, ...]] = ()
    """Filters beside which the page itself says what is wrong with them."""
    request: HttpRequest

    def queryset(self) -> QuerySet[M]:
        """All rows that the list is about, before filters."""
        raise NotImplementedError

    def filter_options(self) -> Mapping[str, Sequence[str]]:
        """Text filters to choose from a list instead of typing: name → values."""
        return {}

    @cached_property
    def filterset(self) -> FilterSet | None:
        if self.filterset_class is None:
            return None
        return self.filterset_class(
            self.request.GET, queryset=self.queryset(), request=self.request
        )

    @cached_property
    def filter_errors(self) -> list[str]:
        """One sentence per filter that cannot be read; the list is empty then."""
        return [sentence for _, sentence in self._errors_by_filter]

    @property
    def listed_filter_errors(self) -> list[str]:
        """Those that stand above the list."""
        return [
            sentence
            for name, sentence in self._errors_by_filter
            if name not in self.filters_that_answer
        ]

    @cached_property
    def _errors_by_filter(self) -> list[tuple[str, str]]:
        if self.filterset is None or self.filterset.is_valid():
            return []
        form = self.filterset.form
        return [
            (
                name,
                f"{form.fields[name].label or name}: {' '.join(map(str, errors))}"
                if name in form.fields
                else " ".join(map(str, errors)),
            )
            for name, errors in form.errors.items()
        ]

    @cached_property
    def chips(self) -> list[Chip]:
        """The filters that are on."""
        if self.filterset is None:
            return []
        form = self.filterset.form
        chips = []
        for name, field in form.fields.items():
            for value in filter(None, self.request.GET.getlist(name)):
                choices = dict(getattr(field, "choices", ()) or ())
                chips.append(
                    Chip(
                        label=str(field.label or name),
                        value=str(choices.get(value, value)),
                        href=with_parameters(self.request, drop_value=(name, value)),
                    )
                )
        return chips

    @property
    def clear_href(self) -> str:
        names = tuple(self.filterset.form.fields) if self.filterset else ()
        return with_parameters(self.request, drop=names)

    @cached_property
    def _fields(self) -> tuple[list[BoundField], list[BoundField]]:
        form = self.filterset.form if self.filterset else None
        if form is None:
            return [], []
        for name, values in self.filter_options().items():
            # One that is on stays in the form, or the next choice would drop it.
            asked = filter(None, [self.request.GET.get(name)])
            choices = [
                ("", "any"),
                *((value, value) for value in dict.fromkeys([*values, *asked])),
            ]
            form.fields[name].widget = forms.Select(choices=choices)
        if search := form.fields.get("q"):
            hint = search.widget.attrs.get("placeholder") or search.label
            search.widget.attrs["placeholder"] = hint
            search.widget.input_type = "search"
            search.label = "Search"
        main = set(self.main_filter_names or list(form.fields)[:5])
        shown = [field for field in form if not field.is_hidden]
        return (
            [field for field in shown if field.name in main],
            [field for field in shown if field.name not in main],
        )

    @property
    def hidden_filters(self) -> list[BoundField]:
        return list(self.filterset.form.hidden_fields()) if self.filterset else []

    @property
    def main_filters(self) -> list[BoundField]:
        return self._fields[0]

    @property
    def more_filters(self) -> list[BoundField]:
        return self._fields[1]

    @property
    def more_filters_on(self) -> bool:
        return any(self.request.GET.get(field.name) for field in self.more_filters)

    @property
    def kept_parameters(self) -> list[tuple[str, str]]:
        """What a new filter keeps: order, page size, columns."""
        return self._parameters(lambda name: name in {"sort", "size", "cols"})

    @property
    def parameters_without_columns(self) -> list[tuple[str, str]]:
        return self._parameters(lambda name: name not in {"cols", "page"})

    def _parameters(self, keep: Callable[[str], bool]) -> list[tuple[str, str]]:
        return [
            (name, value)
            for name, values in self.request.GET.lists()
            if keep(name)
            for value in values
            if value
        ]
