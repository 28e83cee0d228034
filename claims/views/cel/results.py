"""What came out of a question, ready for the page's templates."""

from __future__ import annotations

from functools import cached_property
from typing import Final, Literal

import numpy as np
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from claims.views.cel import wording
from claims.views.cel.devices import Asked, ByOutcome, BySide, Devices
from claims.views.cel.parts import devices_of_term, words_of
from claims.views.cel.question import Question, TermChoice
from claims.views.cel.readable import Readable, readable
from claims.views.cel.remarks import (
    Problem,
    Remark,
    diagnoses,
    diagnostics,
    refusal_of,
    remarks_of,
)
from claims.views.cel.shown import OUTCOME_WORDS, Comparison, Failure, Outcome
from claims.views.cel.tables import device_href
from dra import cel
from dra.cel.explain import Explanation, Term
from dra.errors import NotSupportedError
from dra.snapshot import Snapshot
from inventory import selecting
from inventory.models import Cluster
from inventory.selecting import Answer, Deadline, NoSuchScope
from inventory.selecting.scopes import Mask
from inventory.views import cel_terms

MOST_ERRORS: Final = 5

type State = Literal["nothing", "no scope", "refused", "answered"]


class Results:
    """The answer to one question; parts of it when they are first asked for."""

    def __init__(
        self, cluster: Cluster, snapshot: Snapshot, question: Question
    ) -> None:
        self.cluster = cluster
        self.snapshot = snapshot
        self.question = question
        self.features = selecting.features_of(cluster)
        self.table = snapshot.devices(lists=self.features.list_type_attributes)
        self.deadline = Deadline()
        self.answer: Answer | None = None
        self.second: Answer | None = None
        self.scope_problem = ""
        if question.asked:
            try:
                self.answer = self._ask(question.expression)
                if question.comparing:
                    self.second = self._ask(question.compare)
            except NoSuchScope as problem:
                self.scope_problem = str(problem)

    def _ask(self, expression: str) -> Answer:
        return selecting.answer(
            self.snapshot,
            expression,
            scope=self.question.scope,
            features=self.features,
            first=0,
        )

    # --- the answer ---

    @property
    def explanation(self) -> Explanation | None:
        return self.answer.explanation if self.answer else None

    @property
    def state(self) -> State:
        if self.scope_problem:
            return "no scope"
        if self.answer is None:
            return "nothing"
        if self.explanation is None and not self.answer.incomplete:
            return "refused"
        return "answered"

    @cached_property
    def sentence(self) -> str:
        if self.answer is None:
            return self.scope_problem or wording.invitation(len(self.table))
        found = self.explanation
        if found is None:
            return wording.LATE if self.answer.incomplete else wording.REFUSED
        said = wording.outcome(
            self.question.scope, found.devices, found.matched, found.error
        )
        return f"{wording.TOO_EXPENSIVE} {said}" if self.answer.too_expensive else said

    @property
    def tone(self) -> str:
        """ok, warn or bad; empty while there is no question."""
        if self.answer is None:
            return "bad" if self.scope_problem else ""
        found = self.explanation
        if found is None:
            return "warn" if self.answer.incomplete else "bad"
        if found.error or self.answer.too_expensive:
            return "bad"
        return "ok" if found.matched else "warn"

    @property
    def icon(self) -> str:
        return {"ok": "check", "bad": "alert", "warn": "info"}.get(self.tone, "cel")

    @property
    def refusal(self) -> list[Problem]:
        return self._refusal(self.answer)

    def _refusal(self, answer: Answer | None) -> list[Problem]:
        if answer is None:
            return []
        return refusal_of(selecting.compiled(answer.expression, self.features))

    @property
    def incomplete(self) -> str:
        return self.answer.incomplete if self.answer else ""

    @property
    def outcome(self) -> Outcome | None:
        return self._outcome(self.explanation, self.question)

    @staticmethod
    def _outcome(found: Explanation | None, question: Question) -> Outcome | None:
        if found is None or not found.devices:
            return None
        return Outcome(found.matched, found.false, found.error, question)

    @property
    def cost(self) -> str:
        answer = self.answer
        if answer is None or answer.cost is None:
            return ""
        return wording.cost(answer.cost, answer.cost_limit)

    @property
    def cost_share(self) -> float:
        answer = self.answer
        if answer is None or answer.cost is None:
            return 0.0
        return min(1.0, answer.cost.high / answer.cost_limit)

    @cached_property
    def remarks(self) -> list[Remark]:
        if self.answer is None:
            return []
        return remarks_of(self.answer, self.question, self.cluster.name)

    @property
    def errors(self) -> list[Failure]:
        found = self.explanation
        return [
            Failure(
                count=group.count,
                message=group.message,
                name=group.example.device,
                title=str(group.example),
                href=device_href(self.cluster.name, group.example),
            )
            for group in (found.errors[:MOST_ERRORS] if found else ())
        ]

    @property
    def more_errors(self) -> int:
        found = self.explanation
        return max(0, found.messages - MOST_ERRORS) if found else 0

    @property
    def error_href(self) -> str:
        return self.question.but(tab="error", term=None, compare="").query

    @property
    def diagnostics(self) -> SafeString:
        """For the editors of the page."""
        fields = (("cel-expression", self.answer), ("cel-compare", self.second))
        return format_html_join(
            "",
            "{}",
            (
                (diagnostics(field, diagnoses(answer) if answer else ()),)
                for field, answer in fields
            ),
        )

    # --- the evidence ---

    @property
    def shows_evidence(self) -> bool:
        """A mistake while typing leaves that of the expression before."""
        return self.state != "refused"

    @property
    def old_on(self) -> str:
        """The kinds whose changes make the answer old; empty without an answer."""
        if self.explanation is None:
            return ""
        kinds = "ResourceSlice DeviceClass"
        if self.question.scope.state:
            kinds += " ResourceClaim DeviceTaintRule"
        return kinds

    @cached_property
    def readable(self) -> Readable | None:
        if self.answer is not None or self.scope_problem:
            return None
        return readable(self.table, self.question)

    @cached_property
    def _term_rows(self) -> tuple[list[cel_terms.TermRow], int]:
        found, choice = self.explanation, self.question.term
        if found is None or not found.devices:
            return [], 0
        place = (choice.start, choice.end) if choice else None
        most = self.question.rows_shown(cel_terms.MOST, links=4)
        return cel_terms.rows(found.term, self._term_href, chosen=place, most=most)

    def _term_href(self, term: Term, of: str) -> str:
        choice = TermChoice(term.start, term.end, of)
        return self.question.but(term=choice, tab="", compare="").query

    @property
    def terms(self) -> list[cel_terms.TermRow]:
        return self._term_rows[0]

    @property
    def more_terms(self) -> int:
        return self._term_rows[1]

    @property
    def terms_sentence(self) -> str:
        return cel_terms.sentence(self.explanation.term) if self.explanation else ""

    def _asked(self, answer: Answer | None) -> Asked | None:
        if answer is None or answer.explanation is None:
            return None
        program = selecting.compiled(answer.expression, self.features).program
        if program is None:
            return None
        return Asked(program, self.table.select(program), answer.explanation.term)

    @cached_property
    def first_asked(self) -> Asked | None:
        return self._asked(self.answer)

    @cached_property
    def second_asked(self) -> Asked | None:
        return self._asked(self.second)

    @cached_property
    def base(self) -> Mask:
        """The devices of the scope."""
        mask = selecting.scope_mask(
            self.snapshot, self.table, self.question.scope, features=self.features
        )
        return np.ones(len(self.table), np.bool_) if mask is None else mask

    @cached_property
    def _chosen(self) -> Mask | None:
        """Those of a chosen term; None where none is chosen, or there is none such."""
        asked, choice = self.first_asked, self.question.term
        if asked is None or choice is None or self.second_asked is not None:
            return None
        try:
            return devices_of_term(asked.program, self.table, choice, self.deadline)
        except (cel.Stopped, NotSupportedError):
            return None

    @property
    def chosen(self) -> str:
        asked, choice = self.first_asked, self.question.term
        if self._chosen is None or asked is None or choice is None:
            return ""
        return words_of(asked.program, choice)

    @property
    def unchosen_href(self) -> str:
        return self.question.but(term=None, tab="").query or "?"

    @cached_property
    def devices(self) -> Devices | None:
        """The lists of devices; None where there is nothing to list."""
        first, second = self.first_asked, self.second_asked
        if first is None or not np.any(self.base):
            return None
        common = (self.snapshot, self.table, self.cluster.name, self.question)
        if second is not None:
            return BySide(*common, self.base, self.deadline, first=first, second=second)
        base, chosen = self.base, self._chosen
        if chosen is not None:
            base = base & chosen
        return ByOutcome(
            *common, base, self.deadline, asked=first, whole=chosen is None
        )

    # --- two expressions ---

    @cached_property
    def comparison(self) -> Comparison | None:
        second = self.second
        if second is None or self.first_asked is None:
            return None
        question = self.question
        swapped = question.but(
            expression=question.compare, compare=question.expression, tab=""
        )
        hrefs = (swapped.query, question.but(compare="", tab="").query)
        found = self.devices
        if not isinstance(found, BySide):
            if second.explanation is not None:
                return Comparison(wording.NO_DEVICES, *hrefs)
            late = bool(second.incomplete)
            said = wording.SECOND_LATE if late else wording.SECOND_REFUSED
            return Comparison(said, *hrefs, refusal=self._refusal(second))
        counts = found.counts
        said = wording.comparison(counts["both"], counts["first"], counts["second"])
        return Comparison(
            said,
            *hrefs,
            outcome=self._outcome(second.explanation, swapped),
            matrix=found.matrix(OUTCOME_WORDS),
        )
