"""How many more of each shape fit: now, and over time.

A shape is what one pod brings: specs of claims. A cluster has a list of them; while
nobody has made one, it is one device of each class.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from allocator import snapshots
from allocator.models import HeadroomSample, HeadroomShape
from allocator.sampling import is_current
from allocator.whatif.asking import features_of
from dra.objects import ResourceClaim, read
from dra.snapshot import Snapshot
from dra.whatif import Headroom, ScenarioError, Shape, headroom
from dra.whatif.drafts import draft
from inventory.models import Cluster
from inventory.selecting import Deadline

log = structlog.get_logger("allocator.whatif")

type Json = dict[str, Any]

MOST_SHAPES: Final = 50
MOST_CLAIMS: Final = 32
MOST_FROM_CLASSES: Final = 30
SINGLE_FOR: Final = timedelta(days=2)
HOURS_FOR: Final = timedelta(days=60)
HOUR: Final = 3600
DAY: Final = 86_400
MOST_ROLLED: Final = 50_000
"""Samples that are rolled up at once; the others have their turn at the next look."""
_KEPT: Final = 64


@dataclass(frozen=True, slots=True)
class Known:
    """A shape of a cluster; ``digest`` names its line over time."""

    shape: Shape
    claims: list[Json]
    digest: str

    @property
    def name(self) -> str:
        return self.shape.name


@dataclass(frozen=True, slots=True)
class Look:
    """The answers of one look, in the order of the shapes."""

    seq: int
    at: datetime
    shapes: tuple[Known, ...]
    answers: tuple[Headroom, ...]
    own: bool
    """Whether somebody has made the list; else it comes from the classes."""
    left_out: int = 0
    """Classes for which a list from the classes has no room."""


# --- shapes ------------------------------------------------------------------


def shapes_of(cluster: Cluster, snapshot: Snapshot) -> tuple[tuple[Known, ...], bool]:
    """The cluster's shapes, and whether somebody has made the list."""
    rows = list(HeadroomShape.objects.filter(cluster=cluster)[:MOST_SHAPES])
    if rows:
        return tuple(_known(row.name, row.claims) for row in rows), True
    names = sorted(snapshot.classes)[:MOST_FROM_CLASSES]
    return tuple(_known(name, [one_of(name)]) for name in names), False


def one_of(class_name: str) -> Json:
    """The spec of a claim for one device of a class."""
    exactly = {"deviceClassName": class_name}
    return {"devices": {"requests": [{"name": "one", "exactly": exactly}]}}


def save_shapes(cluster: Cluster, wanted: Sequence[tuple[str, list[Json]]]) -> None:
    """Replace the cluster's list; an empty one brings back that from the classes.

    ``wanted`` are names with specs of claims. Raises
    :class:`~dra.whatif.ScenarioError` with the path (``shapes[0].claims[1].spec…``).
    """
    if len(wanted) > MOST_SHAPES:
        raise ScenarioError("shapes", f"has more than {MOST_SHAPES} entries")
    snapshot = snapshots.current(cluster)
    names: set[str] = set()
    for place, (name, claims) in enumerate(wanted):
        _check(place, claims, snapshot)
        if name in names:
            raise ScenarioError(f"shapes[{place}].name", "is there twice")
        names.add(name)
    with transaction.atomic():
        HeadroomShape.objects.filter(cluster=cluster).delete()
        HeadroomShape.objects.bulk_create(
            HeadroomShape(cluster=cluster, name=name, claims=claims, position=place)
            for place, (name, claims) in enumerate(wanted)
        )


def read_shapes(raw: object) -> list[tuple[str, list[Json]]]:
    """``[{"name": …, "claims": [spec, …]}, …]`` as names with specs. Raises as above."""
    if not isinstance(raw, list):
        raise ScenarioError("shapes", "must be a list")
    found = []
    for place, entry in enumerate(raw[: MOST_SHAPES + 1]):
        at = f"shapes[{place}]"
        if not isinstance(entry, dict) or set(entry) != {"name", "claims"}:
            raise ScenarioError(at, "must have name and claims, and nothing else")
        name, claims = entry["name"], entry["claims"]
        if not isinstance(name, str) or not name.strip() or len(name) > 100:
            raise ScenarioError(f"{at}.name", "must be a text of 1 to 100 characters")
        if not isinstance(claims, list) or not 1 <= len(claims) <= MOST_CLAIMS:
            text = f"must be a list of 1 to {MOST_CLAIMS} specs of claims"
            raise ScenarioError(f"{at}.claims", text)
        found.append((" ".join(name.split()), claims))
    return found


def _check(place: int, claims: Iterable[Any], snapshot: Snapshot) -> None:
    for number, spec in enumerate(claims):
        path = f"shapes[{place}].claims[{number}]"
        if not isinstance(spec, dict):
            raise ScenarioError(path, "must be the spec of a claim")
        try:
            draft(
                "ResourceClaim",
                {"spec": spec},
                path,
                snapshot,
                name="shape",
                namespace="default",
            )
        except ScenarioError as error:
            where = error.path.replace(f"{path}.spec", path, 1)
            raise ScenarioError(where, error.reason) from error


def _known(name: str, claims: list[Json]) -> Known:
    """Read, not validated: a mirrored class may have a name that no claim may ask for,
    and the answer for it says so."""
    made = tuple(
        read(
            {"metadata": {"name": f"claim-{number}", "namespace": "default"}}
            | {"spec": spec},
            ResourceClaim,
        )
        for number, spec in enumerate(claims)
    )
    text = json.dumps([name, claims], sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return Known(Shape(name, made), claims, digest)


# --- now ---------------------------------------------------------------------

_looks: dict[tuple[int, int, str, bool], Look] = {}
_lock = threading.Lock()


def look(cluster: Cluster, *, explain: bool = True) -> Look:
    """How many more of each shape fit; kept while the cluster does not change.

    Takes at most ``HEADROOM_SECONDS``; a shape that was not counted to the end says
    so. ``explain``: with the reason what stops the next.
    """
    snapshot, at = snapshots.current(cluster), timezone.now()
    shapes, own = shapes_of(cluster, snapshot)
    lines = "".join(one.digest for one in shapes)
    key = (cluster.pk, snapshot.seq, lines, explain)
    with _lock:
        known = _looks.get(key)
    if known is not None:
        return known
    answers = headroom(
        snapshot,
        [one.shape for one in shapes],
        features=features_of(cluster),
        stop=Deadline(settings.HEADROOM_SECONDS),
        explain=explain,
    )
    left_out = 0 if own else len(snapshot.classes) - len(shapes)
    made = Look(snapshot.seq, at, shapes, tuple(answers), own, left_out)
    with _lock:
        while len(_looks) >= _KEPT:
            _looks.pop(next(iter(_looks)))
        _looks[key] = made
    return made


# --- over time ---------------------------------------------------------------


def sample_headroom() -> int:
    """One look at every cluster whose mirror is up to date, kept; older ones are rolled
    up. How many rows."""
    number = 0
    for cluster in Cluster.objects.all():
        try:
            if is_current(cluster):
                number += _sample(cluster)
        # One cluster that cannot be looked at must not cost the others their sample.
        except Exception:
            log.exception("headroom.not_sampled", cluster=cluster.name)
    now = timezone.now()
    roll_up(0, HOUR, older_than=now - SINGLE_FOR)
    roll_up(HOUR, DAY, older_than=now - HOURS_FOR)
    limit = now - timedelta(days=settings.HEADROOM_KEEP_DAYS)
    HeadroomSample.objects.filter(at__lt=limit).delete()
    return number


def _sample(cluster: Cluster) -> int:
    found = look(cluster, explain=False)
    at = timezone.now().replace(second=0, microsecond=0)
    rows = [
        HeadroomSample(
            cluster=cluster,
            name=shape.name,
            digest=shape.digest,
            at=at,
            fits=answer.fits,
            least=answer.fits,
            most=answer.fits,
            capped=answer.verdict != "does not fit",
        )
        for shape, answer in zip(found.shapes, found.answers, strict=True)
        if answer.verdict != "refused" and not _has_no_answer(answer)
    ]
    HeadroomSample.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)


def _has_no_answer(answer: Headroom) -> bool:
    """Whether the time was over before the shape's turn: then 0 is no number."""
    return answer.verdict == "not tried" and not answer.fits and not answer.reason


def roll_up(span: int, into: int, *, older_than: datetime) -> int:
    """Replace samples of ``span`` seconds by one per ``into`` seconds; how many go.

    Only whole spans that ended before ``older_than``.
    """
    limit = _beginning(older_than, into)
    old = HeadroomSample.objects.filter(span=span, at__lt=limit)
    rows = list(old.order_by("cluster_id", "digest", "at")[:MOST_ROLLED])
    if not rows:
        return 0

    def home(row: HeadroomSample) -> tuple[int, str, datetime]:
        return row.cluster_id, row.digest, _beginning(row.at, into)

    groups = [list(group) for _, group in groupby(rows, key=home)]
    if len(rows) == MOST_ROLLED and len(groups) > 1:
        # Of the last one there may be more, which would find its place taken.
        rows = rows[: -len(groups.pop())]
    made = [_rolled(group, into) for group in groups]
    with transaction.atomic():
        HeadroomSample.objects.bulk_create(made, ignore_conflicts=True)
        HeadroomSample.objects.filter(pk__in=[row.pk for row in rows]).delete()
    return len(rows)


def _rolled(rows: Sequence[HeadroomSample], into: int) -> HeadroomSample:
    looks = sum(row.looks for row in rows)
    first = rows[0]
    return HeadroomSample(
        cluster_id=first.cluster_id,
        name=first.name,
        digest=first.digest,
        span=into,
        at=_beginning(first.at, into),
        fits=sum(row.fits * row.looks for row in rows) / looks,
        least=min(row.least for row in rows),
        most=max(row.most for row in rows),
        looks=looks,
        capped=any(row.capped for row in rows),
    )


def _beginning(at: datetime, span: int) -> datetime:
    seconds = at.timestamp()
    return datetime.fromtimestamp(seconds - seconds % span, tz=at.tzinfo)


def history(
    cluster: Cluster, digests: Iterable[str], since: datetime
) -> dict[str, list[HeadroomSample]]:
    """Samples by shape since a time, oldest first; one query."""
    found: dict[str, list[HeadroomSample]] = {digest: [] for digest in digests}
    rows = HeadroomSample.objects.filter(
        cluster=cluster, digest__in=list(found), at__gte=since
    ).order_by("at")
    for row in rows:
        found[row.digest].append(row)
    return found
