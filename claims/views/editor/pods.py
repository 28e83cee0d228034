"""What the pods of a text need together, beside the document that is shown."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from claims.authoring.checking import gates_of
from claims.authoring.editing import Editing
from claims.authoring.previewing import Preview, previewed
from claims.authoring.workloads import Workload, workloads
from claims.views.editor.shapes import Remark
from claims.views.verdicts import LOOKS, VerdictLook
from dra.cel.selection import Stop
from dra.snapshot import Snapshot
from inventory.models import Cluster

SECONDS: Final = 1.0
"""For all kinds of pods of one text together."""
MOST: Final = 8
_NOTHING: Final = VerdictLook("muted", "info", "nothing to ask")
_MISSING: Final = VerdictLook("bad", "alert", "claim missing")


@dataclass(frozen=True, slots=True)
class PodsOf:
    """One kind of pod: how many, what each needs, and whether that fits on a node.

    ``place`` is its place among ``pods_in``. ``asks_for_changes`` where single changes
    may help, ``at_once`` without being told to.
    """

    place: int
    document: int
    title: str
    sentence: str
    look: VerdictLook
    verdict: str
    errors: Sequence[str]
    asks_for_changes: bool = False
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class Pods:
    """``shown`` are all kinds of pods of the text. ``preview``, ``remarks`` (by path) and
    ``also`` (a sentence) are about those of the document that is shown."""

    shown: Sequence[PodsOf] = ()
    more: int = 0
    preview: Preview | None = None
    remarks: Sequence[tuple[str, Remark]] = ()
    also: str = ""


def pods_in(cluster: Cluster, editing: Editing, snapshot: Snapshot) -> list[Workload]:
    """The kinds of pods of a text of which there is something to say."""
    found = workloads(
        editing.manifest.documents,
        snapshot,
        extended_resources=gates_of(cluster).extended_resource,
    )
    return [workload for workload in found if _counts(workload)]


def pods_of(
    cluster: Cluster,
    snapshot: Snapshot,
    editing: Editing,
    alone: Preview | None,
    *,
    stop: Stop,
) -> Pods:
    """Asked in the order of the text until the time is over. ``alone`` is the preview of
    the claim that is shown, by itself."""
    found = pods_in(cluster, editing, snapshot)
    end = time.monotonic() + SECONDS
    shown: list[PodsOf] = []
    mine: list[tuple[Workload, Preview | None]] = []
    for place, workload in enumerate(found[:MOST]):
        preview = None
        left = end - time.monotonic()
        if workload.claims and not workload.absent and left > 0:
            preview = previewed(
                cluster,
                snapshot,
                workload.claims,
                node_names=workload.node_names,
                seconds=left,
                stop=stop,
            )
        near = workload.document == editing.index or (
            editing.index in workload.documents and alone is not None and alone.fits
        )
        shown.append(_shown(place, workload, preview, at_once=near))
        if workload.document == editing.index:
            mine.append((workload, preview))
    return Pods(
        shown=shown,
        more=len(found) - len(shown),
        preview=mine[0][1] if mine else None,
        remarks=[
            (remark.path, Remark("bad" if remark.is_error else "warn", remark.message))
            for workload, _ in mine
            for remark in workload.remarks
        ],
        also=" ".join(workload.sentence for workload, _ in mine),
    )


def _counts(workload: Workload) -> bool:
    return workload.asks_devices or bool(workload.remarks)


def _shown(
    place: int, workload: Workload, preview: Preview | None, *, at_once: bool
) -> PodsOf:
    look, verdict = _NOTHING, ""
    if preview is not None:
        look, verdict = LOOKS[preview.explanation.verdict], preview.sentence
    elif workload.absent:
        look = _MISSING
    elif workload.allocated:
        verdict = "All of its claims are allocated already."
    asks = preview is not None and preview.explanation.verdict in ("full", "hopeless")
    return PodsOf(
        place=place,
        document=workload.document,
        title=workload.title,
        sentence=workload.sentence,
        look=look,
        verdict=verdict,
        errors=[remark.message for remark in workload.errors],
        asks_for_changes=asks,
        at_once=asks and at_once,
    )
