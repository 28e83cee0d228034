"""What taint rules do to devices: told by device where few are hit, by rule where many.

A rule without a selector taints every device of the cluster. Its record is then one
row of the rule with the selector, and the history of a device is derived from it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from inventory.choices import Happened
from inventory.history.changes import (
    DeviceHistory,
    Json,
    Published,
    taint_differences,
    taint_words,
)
from inventory.history.happenings import DEVICE, RULE
from inventory.models_history import Happening

MOST_HIT: Final = 200
"""Devices that one rule taints, or frees, with a row for each."""
MOST_READ: Final = 500
"""Rows of rules that the history of one device looks at, the newest."""


class Selector(NamedTuple):
    """An empty text means any."""

    driver: str = ""
    pool: str = ""
    device: str = ""


class RuleState(NamedTuple):
    """What a rule says: which devices it means, and its taint in words."""

    selector: Selector
    taint: str

    @classmethod
    def of(cls, name: str, raw: Json, selector: Selector) -> RuleState:
        taint = (raw.get("spec") or {}).get("taint") or {}
        return cls(selector, taint_words({**taint, "rule": name}))


class RuleHistory(DeviceHistory):
    """What happens to rules, and by them to devices, in one transaction of rules."""

    def __init__(self, cluster_id: int) -> None:
        super().__init__(cluster_id, RULE)
        self._hit: dict[tuple[str, Happened, str], list[str]] = defaultdict(list)
        self._counts: dict[tuple[str, Happened, str], int] = defaultdict(int)
        self._was: dict[str, RuleState] = {}
        self._is: dict[str, RuleState] = {}

    def rule(
        self, name: str, uid: str, was: RuleState | None, now: RuleState | None
    ) -> None:
        """A rule that came, changed or went; None: there is none, or none to read."""
        if was == now:
            return
        if was is not None:
            self._was[name] = was
        if now is not None:
            self._is[name] = now
        what = Happened.CHANGED
        if was is None or now is None:
            what = Happened.CREATED if was is None else Happened.DELETED
        taint = (now or was or RuleState(Selector(), "")).taint
        self.recorder.note(RULE, name, what, uid=uid, taints=[taint])

    def save(self) -> None:
        # Who loses a taint and gets another one loses it first.
        for what in (Happened.UNTAINTED, Happened.TAINTED):
            self._note(what)
        super().save()

    def _note(self, what: Happened) -> None:
        by_device: dict[str, list[str]] = defaultdict(list)
        for (rule, mine, text), count in self._counts.items():
            if mine != what:
                continue
            if count > MOST_HIT:
                self._note_many(rule, what, text, count)
                continue
            for device in self._hit[rule, what, text]:
                by_device[device].append(text)
        for device, texts in sorted(by_device.items()):
            self.recorder.note(DEVICE, device, what, taints=sorted(texts))

    def _record(
        self, before: Mapping[str, Published], after: Mapping[str, Published]
    ) -> None:
        """Only taints can differ: nothing else follows from rules."""
        for name, now in after.items():
            was = before.get(name)
            if was is None or was.taints == now.taints:
                continue
            gone, came = taint_differences(was, now)
            for what, taints in ((Happened.UNTAINTED, gone), (Happened.TAINTED, came)):
                for taint in taints:
                    self._note_one(name, what, taint)

    def _note_one(self, device: str, what: Happened, taint: Json) -> None:
        key = (str(taint.get("rule") or ""), what, taint_words(taint))
        self._counts[key] += 1
        if self._counts[key] <= MOST_HIT:
            self._hit[key].append(device)

    def _note_many(self, rule: str, what: Happened, text: str, count: int) -> None:
        was, now = self._was.get(rule), self._is.get(rule)
        mine, other = (now, was) if what == Happened.TAINTED else (was, now)
        detail: dict[str, Any] = {"taints": [text], "count": count}
        if mine is not None:
            detail["where"] = list(mine.selector)
        if other is not None and other.taint == text:
            # A rule with another selector: who was meant by both is not hit anew.
            detail["but"] = list(other.selector)
        self.recorder.note(RULE, rule, what, **detail)


# --- reading -----------------------------------------------------------------------


def of_device(
    cluster_id: int, device: str, since: datetime | None = None
) -> list[Happening]:
    """What rules that hit many did to a device, as its own rows would say it.

    The newest first, those from ``since`` on alone. The rows are not in the table; they
    have the key of the rule's row, which puts them in order.
    """
    named = _named(device)
    rows = Happening.objects.filter(
        cluster_id=cluster_id,
        kind=RULE,
        what__in=(Happened.TAINTED, Happened.UNTAINTED),
    )
    if since is not None:
        rows = rows.filter(at__gte=since)
    hits = [
        row
        for row in rows.order_by("-at", "-pk")[:MOST_READ]
        if _means(row.detail.get("where"), named)
        and not _means(row.detail.get("but"), named)
    ]
    if not hits:
        return []
    lives = _lives(cluster_id, device)
    return [_as_device(row, device) for row in hits if _was_there(lives, row.at)]


def _named(device: str) -> Selector:
    """``driver/pool/device``, where a pool's name may hold slashes."""
    driver, _, rest = device.partition("/")
    pool, _, name = rest.rpartition("/")
    return Selector(driver, pool, name)


def _means(selector: Sequence[str] | None, named: Selector) -> bool:
    if selector is None:
        return False
    pairs = zip(selector, named, strict=True)
    return all(wanted in {"", name} for wanted, name in pairs)


def _lives(cluster_id: int, device: str) -> list[tuple[datetime, str]]:
    """When the device came and went, the oldest first."""
    rows = Happening.objects.filter(
        cluster_id=cluster_id,
        kind=DEVICE,
        namespace="",
        name=device,
        what__in=(Happened.CREATED, Happened.DELETED),
    )
    return list(rows.order_by("at", "pk").values_list("at", "what"))


def _was_there(lives: Sequence[tuple[datetime, str]], at: datetime) -> bool:
    """One that has neither come nor gone since there is a record was there all along."""
    before = [what for when, what in lives if when <= at]
    if before:
        return before[-1] == Happened.CREATED
    return not lives or lives[0][1] == Happened.DELETED


def _as_device(row: Happening, device: str) -> Happening:
    return Happening(
        pk=row.pk,
        cluster_id=row.cluster_id,
        at=row.at,
        kind=DEVICE,
        name=device,
        what=row.what,
        detail={"taints": row.detail.get("taints", []), "rule": row.name},
    )
