"""Objects as no API server would serve them: every page answers, the others go on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from django.test import Client

from allocator import snapshots
from claims.mirror import store_for
from claims.models import ResourceClaim
from cluster.store import Event, EventType
from dra.snapshot import Snapshot
from inventory.models import Cluster, Device, Pool, ResourceSlice, WatchState
from tests.bad_input import odd
from tests.bad_input.walking import assert_all_answer
from tests.inventory.mirror.worlds import DRIVER, Json, claim, make, pod, rule, slice_
from tests.mirrored import mirror

pytestmark = pytest.mark.django_db


@pytest.fixture
def viewer(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


def healthy() -> list[Json]:
    """A pool, a class, a claim, a pod that nothing is wrong with."""
    return [
        make("Node", "good-node"),
        slice_("good-slice", pool="good-node"),
        device_class("good-class", f'device.driver == "{DRIVER}"'),
        claim("good-claim", "gpu-0", pool="good-node"),
        pod("good-pod", "good-claim"),
    ]


def device_class(name: str, expression: str) -> Json:
    selectors = [{"cel": {"expression": expression}}]
    return make("DeviceClass", name, spec={"selectors": selectors})


def odd_slice(devices: Any, name: str = "odd", /, **spec: Any) -> Json:
    made = slice_(f"{name}-slice", pool=f"{name}-pool")
    made["spec"] |= {"devices": devices, **spec}
    return made


def in_slices() -> Iterator[Json]:
    for number, devices in enumerate(odd.DEVICES.values()):
        yield odd_slice(devices, f"odd-{number}")
        yield claim(f"of-{number}", "gpu-0", pool=f"odd-{number}-pool")
    for number, spec in enumerate(odd.SPECS.values()):
        yield odd_slice([{"name": "gpu-0"}], f"spec-{number}", **spec)


def in_other_kinds() -> Iterator[Json]:
    for number, spec in enumerate(odd.CLAIM_SPECS.values()):
        name = f"odd-{number}"
        yield make("ResourceClaim", name, spec=spec)
        yield make("ResourceClaimTemplate", name, spec={"spec": spec})
        yield pod(name, name, template=name)
    for number, spec in enumerate(odd.CLASS_SPECS.values()):
        yield make("DeviceClass", f"odd-{number}", spec=spec)
        asks = claim(f"asks-{number}")
        asks["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] = (
            f"odd-{number}"
        )
        yield asks
    for number, spec in enumerate(odd.RULE_SPECS.values()):
        yield make("DeviceTaintRule", f"odd-{number}", spec=spec)


def without_parts() -> Iterator[Json]:
    cluster_wide = ("ResourceSlice", "DeviceClass", "DeviceTaintRule", "Node")
    namespaced = ("ResourceClaim", "ResourceClaimTemplate", "PodGroup")
    for number, spec in enumerate(odd.NO_SPECS):
        for kind in (*cluster_wide, "Namespace", *namespaced):
            yield make(kind, f"spec-{number}", spec=spec, status=spec)
    uses = {"resourceClaims": [{"name": "r", "resourceClaimName": "odd"}, None]}
    for number, status in enumerate(odd.NO_STATUSES):
        name = f"status-{number}"
        yield make("ResourceClaim", name, spec={"devices": {}}, status=status)
        yield make("Pod", name, spec=uses, status=status)
        yield make("Node", name, status=status)
    for number, meta in enumerate(odd.METAS.values()):
        name = f"meta-{number}"
        for obj in (
            slice_(name, pool=name),
            claim(name, "gpu-0", pool=name),
            make("Node", name),
            pod(name, name),
            device_class(name, "true"),
        ):
            obj["metadata"] |= meta
            yield obj


def named(name: str, number: int) -> Iterator[Json]:
    """Objects with this name, and a slice and a claim that mention it everywhere."""
    space = name[:63]
    yield make("Node", name)
    yield device_class(name, "true")
    yield make("DeviceTaintRule", name, spec={"taint": {"key": "k", "effect": "None"}})
    yield claim(name, "gpu-0", namespace=space, pool="odd")
    yield pod(name, name, namespace=space, node=name, template=name)
    yield make("ResourceClaimTemplate", name, space, spec={"spec": {"devices": {}}})
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    mentions = odd_slice([{"name": name}], pool=pool, nodeName=name, driver=name)
    mentions["metadata"]["name"] = name
    yield mentions
    yield rule(f"of-{number}", driver=name, pool=name, device=name)
    holder = claim(f"holder-{number}")
    field = {"key": "metadata.name", "operator": "In", "values": [name]}
    result = {"request": name, "driver": name, "pool": name, "device": name}
    holder["status"] = {
        "allocation": {
            "devices": {"results": [result]},
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]},
        },
        "reservedFor": [{"resource": "pods", "name": name, "uid": name}],
    }
    holder["spec"] = {
        "devices": {"requests": [{"name": name, "exactly": {"deviceClassName": name}}]}
    }
    holder["metadata"]["ownerReferences"] = [{"kind": "Pod", "name": name}]
    yield holder


def with_odd_names() -> Iterator[Json]:
    for number, name in enumerate(odd.NAMES.values()):
        yield from named(name, number)


def mirrored(objects: Iterable[Json]) -> Cluster:
    """Healthy objects first, then ``objects`` one by one, as a watch brings them."""
    cluster = mirror(healthy())
    failures = []
    for number, obj in enumerate(objects):
        obj["metadata"].setdefault("resourceVersion", str(number))
        store = store_for(obj["kind"], cluster.pk)
        try:
            store.apply([Event(EventType.ADDED, obj)], "2000")
        # Whatever it is: the mirror would list anew for ever.
        except Exception as error:
            failures.append((obj, repr(error)))
    assert failures == []
    return cluster


@pytest.mark.parametrize(
    "objects",
    [in_slices, in_other_kinds, without_parts, with_odd_names],
    ids=lambda make: make.__name__,
)
def test_every_page_answers_and_the_healthy_ones_are_well(
    viewer: Client, objects: Callable[[], Iterator[Json]]
) -> None:
    cluster = mirrored(objects())
    assert_all_answer(viewer, cluster)
    good = Device.objects.filter(pool="good-node").order_by("position")
    assert list(good.values_list("name", "state")) == [
        ("gpu-0", "in use"),
        ("gpu-1", "free"),
    ]
    assert ResourceClaim.objects.get(name="good-claim").problem == ""


def test_one_clear_sentence_says_which_value_does_not_parse(viewer: Client) -> None:
    mirror([*healthy(), odd_slice(odd.DEVICES["capacity does not parse"])])
    row = ResourceSlice.objects.get(name="odd-slice")
    assert row.problem.startswith(
        "ResourceSlice odd-slice: spec.devices[0].capacity[memory].value:"
    )
    bad = Pool.objects.get(name="odd-pool")
    assert (bad.valid, bad.complete) == (False, True)
    page = viewer.get("/c/demo/").content.decode()
    assert "ResourceSlice: 1 object cannot be read" in page
    assert Device.objects.get(pool="odd-pool").state == "invalid"


def test_unknown_fields_are_kept_and_shown(viewer: Client) -> None:
    devices = odd.DEVICES["unknown fields"]
    mirror([*healthy(), odd_slice(devices, futureField="kept as it is")])
    raw = ResourceSlice.objects.get(name="odd-slice").raw
    assert raw["spec"]["devices"][0]["future"] == {"deep": [1, None, {"x": "é"}]}
    text = viewer.get("/c/demo/slices/odd-slice/yaml/?format=yaml").content.decode()
    assert "futureField: kept as it is" in text
    assert "deep:" in text


def test_a_slice_count_of_zero_never_makes_free_devices() -> None:
    pool = {"name": "odd-pool", "generation": 1, "resourceSliceCount": 0}
    mirror([odd_slice([{"name": "gpu-0"}], pool=pool)])
    bad = Pool.objects.get(name="odd-pool")
    assert bad.complete is False
    assert "1 slice of generation 1 present, 0 announced" in bad.problem
    assert Device.objects.get(pool="odd-pool").state == "incomplete"


@pytest.mark.parametrize("objects", [in_slices, in_other_kinds, without_parts])
def test_rows_of_odd_objects_give_the_snapshot_that_the_objects_give(
    objects: Callable[[], Iterator[Json]],
) -> None:
    made = [*healthy(), *objects()]
    cluster = mirror(made)
    assert snapshots.current(cluster) == Snapshot.build(made)
    unreadable = ResourceSlice.objects.exclude(problem="").count()
    assert WatchState.objects.get(kind="ResourceSlice").problem_count == unreadable
