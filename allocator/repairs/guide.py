"""The four steps of a repair in words, each with its state; for the page and REST."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from allocator.choices import RepairAction, StepState
from allocator.models import RepairStep
from allocator.repairs.picture import Picture, worked

Progress = Literal["done", "next", "later", "under way"]

BADGES: Final = {
    "done": "done",
    "next": "waiting",
    "later": "queued",
    "under way": "writing",
}
"""How each looks, by the words of ``web.looks``."""


@dataclass(frozen=True, slots=True)
class GuideStep:
    """``key`` is what its form posts to; ``sentence`` says how it stands."""

    key: str
    title: str
    progress: Progress
    sentence: str

    @property
    def badge(self) -> str:
        return BADGES[self.progress]

    @property
    def label(self) -> str:
        return "now" if self.progress == "next" else self.progress


def guide_of(found: Picture) -> list[GuideStep]:
    return [_quarantine(found), _choose(found), _count(found), _lift(found)]


def _progress(found: Picture, number: int, *actions: str, done: bool) -> Progress:
    if found.busy is not None and found.busy.action in actions:
        return "under way"
    if done:
        return "done"
    return "next" if found.stage == number else "later"


def _quarantine(found: Picture) -> GuideStep:
    standing = found.standing
    done = standing is not None or found.stage > 3
    if standing is not None:
        until = (
            f" Until {standing.until:%d %b %Y %H:%M} UTC at the latest, then the portal's "
            "clean-up takes it away."
            if standing.until
            else ""
        )
        said = f"{standing.sentence}{until}"
    elif found.arriving:
        said = "It was put on; the watch has not shown it yet."
    elif found.stage == 5:
        said = "It was lifted."
    elif found.repair is not None and found.repair.quarantined_until is not None:
        said = (
            "There is none any more: it has expired, or somebody else took it away. Put it "
            "on again before anything else."
        )
    else:
        said = (
            "Keep every other pod off the device before anything is released. Who runs on "
            "it runs on."
        )
    return GuideStep(
        "quarantine",
        "Quarantine the device",
        _progress(found, 1, RepairAction.QUARANTINE, done=done),
        said,
    )


def _choose(found: Picture) -> GuideStep:
    done = found.count < 2
    if not done and found.survivor is not None:
        others = ", ".join(holder.name for holder in found.losers)
        said = (
            f"{found.survivor.name} keeps it. End the pods of {others}: then the cluster "
            "frees it by itself; or release it here."
        )
    elif not done:
        said = "Decide which claim keeps the device; the others give way."
    elif found.count == 1:
        said = f"Only {found.holders[0].name} holds the device."
    else:
        said = "No claim holds the device any more."
    return GuideStep(
        "keep",
        "Let one claim keep it, release the others",
        _progress(found, 2, RepairAction.RELEASE, done=done),
        said,
    )


def _count(found: Picture) -> GuideStep:
    settled = found.settled
    if found.stranded is not None:
        said = (
            f"The allocation of {found.stranded.name} was taken away to be written anew, "
            "and was not put back."
        )
    elif not found.count:
        said = "Nobody holds the device, so every scheduler counts rightly by itself."
    elif settled is not None and settled.action != RepairAction.RESTARTED:
        said = f"The allocation of {found.holders[0].name} was written anew."
    elif settled is not None:
        said = f"{settled.actor} has restarted every scheduler."
    elif found.waits:
        said = (
            f"Somebody decided to wait: the quarantine stays until {found.holders[0].name} "
            "has ended. Look again then; or choose another way."
        )
    else:
        said = (
            "A scheduler that saw a booking go takes the device for free until its claim "
            "is written anew, the scheduler is restarted, or nobody holds the device."
        )
    done = found.count < 2 and not found.needed
    return GuideStep(
        "rewrite",
        "Make the schedulers count it again",
        _progress(found, 3, RepairAction.REWRITE, RepairAction.PUT_BACK, done=done),
        said,
    )


def _lift(found: Picture) -> GuideStep:
    if found.stage == 5:
        said = "Lifted. This finding ends when each device has one holder."
    elif found.stage == 4:
        said = "Everything is in order: let others have the device again."
    else:
        said = "At the end."
    return GuideStep(
        "lift",
        "Lift the quarantine",
        _progress(found, 4, RepairAction.LIFT, done=found.stage == 5),
        said,
    )


# --- what was done --------------------------------------------------------------------

_ASKED: Final = {
    RepairAction.QUARANTINE: "Put the device into quarantine.",
    RepairAction.KEEP: "Decided who keeps the device.",
    RepairAction.RELEASE: "Release {claim}.",
    RepairAction.REWRITE: "Write the allocation of {claim} anew.",
    RepairAction.PUT_BACK: "Put the allocation of {claim} back.",
    RepairAction.RESTARTED: "Restarted every scheduler.",
    RepairAction.WAIT: "Wait for the end of {claim}.",
    RepairAction.LIFT: "Lift the quarantine.",
}


_RUNS: Final = (RepairAction.RELEASE, RepairAction.REWRITE, RepairAction.PUT_BACK)


@dataclass(frozen=True, slots=True)
class Line:
    """A step that was taken: what was asked for, its state and what came of it."""

    step: RepairStep
    asked: str
    state: str
    result: str

    @property
    def finished_at(self) -> datetime | None:
        run = self.step.run
        return run.finished_at if run is not None else self.step.finished_at


def history_of(found: Picture) -> list[Line]:
    """Newest first."""
    return list(_lines(found))[::-1]


def _lines(found: Picture) -> Iterator[Line]:
    for step in found.steps:
        claim = f"{step.claim_namespace}/{step.claim_name}"
        asked = _ASKED[RepairAction(step.action)].format(claim=claim)
        if step.run is not None:
            result = step.run.reason or step.run.waits_for
            yield Line(step, asked, step.run.state, result)
        elif step.action in _RUNS:
            result = step.result or "Its run is not kept any more."
            yield Line(step, asked, "ended", result)
        else:
            state = "queued" if step.state == StepState.ASKED else step.state
            yield Line(step, asked, state, step.result)


def last_failure(found: Picture) -> Line | None:
    """What went wrong last, as long as nothing has been done since."""
    lines = history_of(found)
    if not lines or found.busy is not None:
        return None
    last = lines[0]
    if worked(last.step) or last.state not in ("failed", "conflict"):
        return None
    return last
