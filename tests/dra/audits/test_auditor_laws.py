"""An auditor that follows a cluster finds what one finds who comes late."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dra.allocation import Features
from dra.audits import Auditor, Code, audit
from dra.names import ObjectKey
from dra.snapshot import EMPTY
from tests.dra.allocation.world import device_class
from tests.dra.audits.faults import PLANTS, planted
from tests.dra.audits.world import NOW, clean, gpu, one, pod, template
from tests.dra.builders import Json, node, piece

DRIFT = {Code.ATTRIBUTE_DROPPED, Code.ATTRIBUTE_RETYPED}


def key_of(raw: Json) -> ObjectKey:
    meta = raw["metadata"]
    return ObjectKey(raw["kind"], meta.get("namespace", ""), meta["name"])


def variants() -> dict[ObjectKey, list[Json]]:
    """Every form in which each object appears, in the clean cluster, in a fault or odd."""
    found: dict[ObjectKey, list[Json]] = {}
    for objects in (clean(), *(planted(code) for code in PLANTS), odd()):
        for raw in objects:
            forms = found.setdefault(key_of(raw), [])
            if raw not in forms:
                forms.append(raw)
    return found


def odd() -> list[Json]:
    """Objects that others name, in forms that say something else of these."""
    ended = pod("p-a", "a")
    ended["status"]["phase"] = "Succeeded"
    unreadable_pod = {**pod("p-b"), "spec": {"resourceClaims": 5}}
    anew = node("n2", **{"node.kubernetes.io/instance-type": "big"})
    anew["metadata"]["uid"] = "new"
    unreadable_node = {**node("n3"), "status": 5}
    left = one(clean(), "ResourceSlice", "n2-gpu")
    owner = {"apiVersion": "v1", "kind": "Node", "name": "n2", "uid": "old"}
    left["metadata"]["ownerReferences"] = [owner]
    rack = piece(
        "rack", gpu(0, nodeName="n4"), pool="rack", perDeviceNodeSelection=True
    )
    unreadable_template = {**template("fine"), "spec": {"spec": 5}}
    unreadable_slice = one(clean(), "ResourceSlice", "n1-gpu")
    unreadable_slice["spec"]["devices"] = 5
    unreadable_class = {**device_class("nic"), "spec": {"selectors": 5}}
    group = {
        "kind": "PodGroup",
        "metadata": {"name": "g", "namespace": "default"},
        "spec": {
            "resourceClaims": [
                {"name": "a", "resourceClaimName": "a"},
                {"name": "b", "resourceClaimTemplateName": "fine"},
            ]
        },
    }
    return [
        *(ended, unreadable_pod, anew, unreadable_node, left, rack),
        *(unreadable_template, unreadable_class, unreadable_slice, group),
    ]


VARIANTS = variants()

steps = st.lists(
    st.tuples(st.sampled_from(sorted(VARIANTS)), st.integers(-2, 5)), max_size=6
)


def apply(snapshot: Any, changes: Any) -> Any:
    """Each change puts a form of an object or, below 0, takes the object away."""
    put: dict[ObjectKey, Json] = {}
    gone: set[ObjectKey] = set()
    for key, form in changes:
        gone.discard(key)
        put.pop(key, None)
        if form < 0:
            gone.add(key)
        else:
            forms = VARIANTS[key]
            put[key] = forms[form % len(forms)]
    return snapshot.refresh(put.values(), gone, seq=snapshot.seq + 1)


@settings(max_examples=150)
@given(
    st.booleans(),
    st.lists(st.tuples(steps, st.integers(0, 20)), min_size=1, max_size=8),
    st.booleans(),
)
def test_following_finds_what_coming_late_finds(from_nothing, history, gated):
    features = Features.preset("1.34" if gated else "1.36")
    auditor = Auditor(features=features)
    snapshot = EMPTY if from_nothing else EMPTY.refresh(clean(), (), seq=1)
    now = NOW
    auditor.next(snapshot, now=now)

    for changes, minutes in history:
        snapshot = apply(snapshot, changes)
        now += timedelta(minutes=minutes)
        found = auditor.next(snapshot, now=now)

        assert [one for one in found if one.code not in DRIFT] == audit(
            snapshot, now=now, features=features
        )
