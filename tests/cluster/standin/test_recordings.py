"""Requests recorded on kube-apiserver 1.36.2, replayed against the stand-in.

``data/api_recordings.json.gz`` holds them with the answers they got (managedFields
taken out). They form one story: each chapter starts a server in the state that the
recordings imply and replays its part in order. Uids and resourceVersions that the
stand-in gives itself are translated; everything else has to be equal, messages of
errors included, except where :data:`~tests.cluster.standin.story.OTHER_WORDS` says so. What is left out is listed
in ``docs/parity.md``.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cluster.standin.api import Options
from cluster.standin.server import StandinServer
from tests.cluster.standin.http_client import Http
from tests.cluster.standin.story import (
    IDS,
    RECORDINGS,
    USERS,
    Story,
)

Json = Any


# --- the chapters ----------------------------------------------------------


def chapter(first: str, last: str) -> list[str]:
    return IDS[IDS.index(first) : IDS.index(last) + 1]


def recorded_slices() -> list[Json]:
    """s-00 … s-24 as the recorded pages show them."""
    pages = ("list-limit-7", "list-continue-2", "list-continue-3", "list-continue-last")
    items = [item for page in pages for item in RECORDINGS[page]["response"]["items"]]
    return [_whole("ResourceSlice", item) for item in items]


def _whole(kind: str, item: Json) -> Json:
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, **item}


def s_new() -> Json:
    return _whole(
        "ResourceSlice", RECORDINGS["select-label-notexists"]["response"]["items"][0]
    )


def device_class() -> Json:
    return _whole("DeviceClass", RECORDINGS["accept-json"]["response"]["items"][0])


NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "rec"}}


@contextlib.contextmanager
def new_story() -> Iterator[Story]:
    served = {"resource.k8s.io": ("v1", "v1beta2", "v1beta1", "v1alpha3")}
    with StandinServer(
        served=served, users=USERS, options=Options(future_patience=0.2)
    ) as server:
        yield Story(server)


@pytest.fixture
def story() -> Iterator[Story]:
    with new_story() as made:
        yield made


def test_discovery_and_health_answer_as_recorded(story: Story) -> None:
    for name in chapter("disc-api", "version-anon"):
        if "version" not in name:
            story.replay(name)
    ours = Http(story.server.port).get("/version").json
    theirs = RECORDINGS["disc-version"]["response"]
    assert ours.keys() == theirs.keys()
    stable = {"major", "minor", "gitVersion", "minCompatibilityMinor"}
    assert {k: ours[k] for k in stable} == {k: theirs[k] for k in stable}


def test_lists_pages_and_selectors_answer_as_recorded(story: Story) -> None:
    story.server.store.load([NAMESPACE, device_class(), *recorded_slices()])
    before: dict[str, Callable[[], None]] = {
        "list-continue-2": lambda: _put_new(story),
        "list-rv-future": lambda: story.reach(1095),
        "list-rv-future-exact": lambda: story.reach(1096),
    }
    assert story.server.store.version == 1093
    for name in chapter("list-limit-7", "pretty-param"):
        before.get(name, lambda: None)()
        story.replay(name)


def _put_new(story: Story) -> None:
    story.server.store.put(s_new())
    assert story.server.store.version == 1094


def replay_watch(name: str) -> None:
    with new_story() as story:
        slices = [*recorded_slices(), s_new()]
        story.server.store.load([NAMESPACE, device_class(), *slices])
        found = re.search(r"resourceVersion=(\d{4})\b", RECORDINGS[name]["query"])
        story.reach(int(found[1]) if found else 1156)
        story.replay(name)


def test_watches_go_as_recorded() -> None:
    """All at once, each with a server of its own: they last seconds, and only wait."""
    names = chapter("watch-basic", "watch-old-style-path")
    with ThreadPoolExecutor(len(names)) as pool:
        watches = {name: pool.submit(replay_watch, name) for name in names}
    failed = {name: error for name in names if (error := watches[name].exception())}
    assert failed == {}


def test_after_a_restart_old_versions_are_gone_as_recorded(story: Story) -> None:
    story.server.store.load([NAMESPACE, device_class(), *recorded_slices(), s_new()])
    story.reach(1162)
    story.server.store.load([])
    story.replay("continue-after-compaction-cached")
    story.replay("exact-after-compaction-cached")
    story.reach(1174)
    story.server.restart()
    story.reach(1178)
    for name in chapter("http410-continue", "watch-current-after-restart"):
        story.replay(name)


def test_writes_and_rights_answer_as_recorded(story: Story) -> None:
    recorded = RECORDINGS["delete-plain"]["response"]
    meta = {k: v for k, v in recorded["metadata"].items() if k != "resourceVersion"}
    applied = _whole("ResourceClaim", {**recorded, "metadata": meta})
    slices = [*recorded_slices(), s_new()]
    story.server.store.load([NAMESPACE, device_class(), *slices, applied])
    story.reach(1178)
    for name in chapter("create", "413-body-over-3MiB"):
        if name == "finalizer-add":
            story.reach(1189)  # server-side apply, left out, took three versions
        story.replay(name)


def test_generated_names_noops_and_odd_paths_answer_as_recorded(story: Story) -> None:
    page = RECORDINGS["trailing-slash"]["response"]
    first = _whole("ResourceSlice", page["items"][0])
    others = recorded_slices()[: page["metadata"]["remainingItemCount"]]
    story.server.store.load([NAMESPACE, first, *others])
    story.reach(1669)
    story.replay("generatename")
    noop = _whole("ResourceClaim", RECORDINGS["noop-patch"]["response"])
    story.server.store.load([noop])
    for name in chapter("noop-patch", "delete-options-foreground"):
        story.replay(name)


def test_every_recording_has_its_chapter() -> None:
    chapters = [
        *chapter("disc-api", "version-anon"),
        *chapter("list-limit-7", "pretty-param"),
        *chapter("watch-basic", "watch-old-style-path"),
        *chapter("continue-after-compaction-cached", "watch-current-after-restart"),
        *chapter("create", "413-body-over-3MiB"),
        *chapter("generatename", "delete-options-foreground"),
    ]
    assert chapters == IDS
    assert len(IDS) == 172
