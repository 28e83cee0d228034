"""What is wrong in a cluster, worst first?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.html import format_html

from allocator.findings import places, queries, wording
from allocator.findings.filtersets import FindingFilter
from allocator.models import Finding, FindingPass
from inventory.views.kit import ClusterList
from web.pages import Column, cells


class Findings(ClusterList[Finding]):
    """All findings of a cluster; without a filter those that are open."""

    title = "Findings"
    name = "findings"
    noun = ("finding", "findings")
    filterset_class = FindingFilter
    template_name = "allocator/findings/list.html"
    results_template = "pages/list.html#results"
    default_sort = "severity"
    refresh_on = ("Finding",)
    main_filter_names = ("q", "severity", "code", "acknowledged", "state")

    @property
    def empty_title(self) -> str:  # type: ignore[override]  # it depends on the last look
        return "Nothing is wrong" if self._looked else "Not known yet"

    @property
    def nothing_yet(self) -> str:  # type: ignore[override]  # as above
        return wording.ALL_RIGHT if self._looked else self.sentence()

    def available_columns(self) -> Sequence[Column]:
        here = self.cluster.name
        return (
            Column(
                "severity",
                "Severity",
                sort=("rank", "code", "-since"),
                cell=lambda f: cells.badge(f.severity),
                kind="badge",
            ),
            Column(
                "what",
                "What",
                value="title",
                sort=("code", "name"),
                kind="html",
                cell=lambda f: _what(here, f),
            ),
            Column(
                "where",
                "Where",
                value=_where,
                sort=("kind", "namespace", "name"),
                kind="html",
                cell=lambda f: places.where(here, f),
            ),
            Column("sentence", "In words", kind="line"),
            Column(
                "since", "Since", sort=("-since",), kind="age", title="First seen then."
            ),
            Column(
                "ended",
                "Ended",
                value="ended_at",
                sort=("ended_at",),
                kind="age",
                shown=self._shows_ended,
            ),
            Column(
                "note",
                "Acknowledged",
                value=_note,
                cell=_note_cell,
                kind="html",
                shown=bool(self.request.GET.get("acknowledged")),
            ),
            Column("code", "Code", sort=("code",), kind="mono", shown=False),
            Column("why", "Why it matters", value="why", kind="line", shown=False),
            Column("repair", "What to do", value="repair", kind="line", shown=False),
            Column("namespace", "Namespace", sort=("namespace", "name"), shown=False),
        )

    def queryset(self) -> QuerySet[Finding]:
        return queries.findings(self.cluster)

    def sentence(self) -> str:
        passing, acknowledged = self._numbers
        return wording.sentence_of(passing, acknowledged)

    def extra(self) -> dict[str, object]:
        found = super().extra()
        if not self.is_fragment:
            found["kinds"] = self._kinds()
            found["passing"] = self._numbers[0]
        return found

    def _kinds(self) -> list[queries.Open]:
        """Those of now that the filters leave."""
        if self.request.GET.get("state") == "ended":
            return []
        code = self.request.GET.get("code", "")
        severities = list(filter(None, self.request.GET.getlist("severity")))
        return [
            kind
            for kind in queries.by_kind(self.cluster)
            if code in {"", kind.code}
            and (not severities or kind.severity in severities)
        ]

    @cached_property
    def _numbers(self) -> tuple[FindingPass | None, int]:
        return queries.numbers(self.cluster)

    @property
    def _looked(self) -> bool:
        passing = self._numbers[0]
        return (
            passing is not None
            and passing.ended_at is not None
            and not passing.waits_for
        )

    @property
    def _shows_ended(self) -> bool:
        return bool(self.request.GET.get("state"))


def _what(cluster: str, finding: Finding) -> str:
    link = cells.link(reverse("finding", args=[cluster, finding.pk]), finding.title)
    if finding.acknowledged_at is None:
        return link
    note = cells.badge("acknowledged", title=finding.acknowledged_reason)
    return cells.joined([link, note], " ")


def _where(finding: Finding) -> str:
    name = finding.device or finding.name
    return f"{finding.namespace}/{name}" if finding.namespace else name


def _note(finding: Finding) -> str:
    return finding.acknowledged_reason


def _note_cell(finding: Finding) -> str:
    if finding.acknowledged_at is None:
        return cells.NOTHING
    by = str(finding.acknowledged_by or "a user who is gone")
    return format_html(
        '<span title="{}">{}, {} ago</span>',
        finding.acknowledged_reason,
        by,
        cells.age(finding.acknowledged_at),
    )
