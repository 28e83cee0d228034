"""Why a claim waits: the funnel, the nearest misses, and what would make it fit."""

from __future__ import annotations

import json

import msgspec
import pytest

from dra.allocation import Fits, place
from dra.allocation.explaining import explain
from dra.allocation.features import DEFAULT, Features
from dra.allocation.request import with_defaults
from dra.objects import ResourceClaim, ResourceClaimSpec, read
from tests.dra.allocation.test_sweep import CASES, claims_of, snapshot_of
from tests.dra.allocation.world import (
    attribute,
    cluster,
    device_class,
    everything,
    exactly,
    first_of,
    match,
    string,
    wanted,
)
from tests.dra.builders import (
    DRIVER,
    claim,
    consumes,
    counter_set,
    device,
    node,
    piece,
    result,
    taint_rule,
)

IS_GPU = f'{attribute("type")} == "gpu"'


def gpu(name: str, **fields):
    attributes = {"type": string("gpu")} | fields.pop("attributes", {})
    return device(name, attributes=attributes, **fields)


def on(node_name: str, *made, **spec):
    return piece(
        f"slice-{node_name}", *made, pool=node_name, nodeName=node_name, **spec
    )


def stage(found, code, request=0):
    (one,) = [s for s in found.requests[request].stages if s.code == code]
    return one


def losses(found, code, request=0):
    return [(x.what, x.name, x.devices) for x in stage(found, code, request).losses]


def relaxed(found):
    return {(r.code, r.before, r.after): r.node for r in found.relaxations}


def test_the_funnel_says_at_each_step_what_took_devices_away():
    world = cluster(
        node("n1"),
        node("n2") | {"spec": {"unschedulable": True}},
        node("n3"),
        device_class("gpu", IS_GPU),
        on("n1", gpu("a"), gpu("b"), device("nic", attributes={"type": string("nic")})),
        on("n2", gpu("cordoned")),
        on("n3", gpu("c", taints=[{"key": "k", "effect": "NoSchedule"}]), gpu("d")),
        piece("half", gpu("e"), gpu("f"), pool="half", of=2, nodeName="n3"),
        claim("holder", result("a", pool="n1")),
    )
    request = exactly(
        "r", 3, f'{attribute("model")} == "x" || "{DRIVER}" == device.driver'
    )

    found = explain(world, [wanted(request)])

    assert [(s.code, s.devices, s.lost) for s in found.requests[0].stages] == [
        ("published", 8, 0),
        ("reachable", 7, 1),
        ("usable", 5, 2),
        ("class", 4, 1),
        ("selectors", 4, 0),
        ("not in use", 3, 1),
        ("tolerated", 2, 1),
        ("capacity", 2, 0),
        ("counters", 2, 0),
    ]
    assert losses(found, "reachable") == [("node", "n2", 1)]
    assert losses(found, "usable") == [("pool", f"{DRIVER}/half", 2)]
    assert stage(found, "usable").losses[0].note == "1 of 2 slices of generation 1"
    assert losses(found, "class") == [("term", IS_GPU, 1)]
    assert losses(found, "not in use") == [("claim", "default/holder", 1)]
    assert losses(found, "tolerated") == [("taint", "k:NoSchedule", 1)]
    assert found.requests[0].best == 1
    json.dumps(msgspec.to_builtins(found))


def test_a_claim_that_waits_for_others_is_full_and_one_that_asks_too_much_hopeless():
    world = cluster(on("n1", gpu("a"), gpu("b")), claim("h", result("a", pool="n1")))

    full = explain(world, [wanted(exactly("r", 2))])
    hopeless = explain(world, [wanted(exactly("r", 3))])

    assert full.verdict == "full"
    assert full.sentence.startswith("It does not fit now, but would if no claim held")
    assert relaxed(full) == {
        ("fewer", "2", "1"): "n1",
        ("wait", "default/h", ""): "n1",
    }
    assert hopeless.verdict == "hopeless"
    assert relaxed(hopeless) == {("fewer", "3", "1"): "n1"}


def test_one_that_fits_says_where_and_with_what():
    world = cluster(node("n1"), node("n2"), on("n1", gpu("a")), on("n2", gpu("b")))

    found = explain(world, [wanted(exactly())])

    assert (found.verdict, found.node, found.fitting, found.nodes) == (
        "fits",
        "n1",
        2,
        2,
    )
    assert found.sentence == "Fits now on 2 nodes; first: n1 with a."
    assert found.relaxations == ()


def test_nearest_misses_are_free_devices_that_one_term_excludes():
    memory = f'device.capacity["{DRIVER}"].memory'
    at_least = f'{memory}.compareTo(quantity("80Gi")) >= 0'

    def sized(name, size, model="h100"):
        return gpu(
            name,
            attributes={"model": string(model)},
            capacity={"memory": {"value": size}},
        )

    world = cluster(
        on(
            "n1",
            sized("a", "81559Mi"),
            sized("b", "81559Mi"),
            sized("c", "40Gi", "a100"),
        )
    )
    request = exactly("r", 1, f'{attribute("model")} == "h100" && {at_least}')

    found = explain(world, [wanted(request)])

    (miss,) = found.requests[0].misses
    assert (miss.term, miss.devices) == (at_least, 2)
    assert miss.values == (("81559Mi", 2),)
    codes = {r.code for r in found.relaxations}
    assert {"drop term", "loosen term"} <= codes
    dropped = next(r for r in found.relaxations if r.code == "drop term")
    assert dropped.before == at_least


def test_near_misses_are_counted_on_nodes_that_differ_only_in_who_holds_what():
    names = [f"n{n}" for n in range(1, 7)]
    world = cluster(
        *(node(name) for name in names),
        *(on(name, gpu("a"), gpu("b")) for name in names),
        *(claim(f"h{name}", result("a", pool=name)) for name in names[:5]),
    )

    found = explain(world, [wanted(exactly("r", 1, f'{attribute("type")} == "tpu"'))])

    (miss,) = found.requests[0].misses
    assert (miss.devices, miss.values) == (7, (("gpu", 7),))


def test_constraints_say_how_the_free_devices_divide():
    def numa(name, number):
        return gpu(name, attributes={"numa": {"int": number}})

    world = cluster(
        on("n1", numa("a", 0), numa("b", 0), numa("c", 1), numa("d", 1), gpu("e"))
    )

    found = explain(world, [wanted(exactly("r", 4), constraints=[match("numa")])])

    (agreement,) = found.requests[0].agreements
    assert (agreement.nodes_before, agreement.nodes, agreement.most) == (1, 0, 2)
    assert agreement.split == (("0", 2), ("1", 2))
    assert agreement.without == 1
    assert relaxed(found) == {
        ("fewer", "4", "2"): "n1",
        ("drop constraint", f"matchAttribute: {DRIVER}/numa", ""): "n1",
    }


def test_each_constraint_on_an_attribute_is_tried_once_and_named_by_its_requests():
    def numa(name, number):
        return gpu(name, attributes={"numa": {"int": number}})

    world = cluster(on("n1", *(numa(f"g{i}", i) for i in range(4)), numa("g4", 3)))
    pairs = [exactly(name) for name in ("a", "b", "c", "d")]
    rules = [match("numa", "a", "b"), match("numa", "c", "d")]

    found = explain(world, [wanted(*pairs, constraints=rules)])

    dropped = [r for r in found.relaxations if r.code == "drop constraint"]
    assert [r.sentence for r in dropped] == [
        f"Drop the constraint matchAttribute {DRIVER}/numa of a and b.",
        f"Drop the constraint matchAttribute {DRIVER}/numa of c and d.",
    ]
    left = [(r.spec or {})["devices"]["constraints"] for r in dropped]
    assert left == [[rules[1]], [rules[0]]]


def test_counters_say_which_one_is_short_and_whose_end_would_help():
    world = cluster(
        on(
            "n1",
            gpu("whole", consumesCounters=[consumes("gpu-0", memory="80Gi")]),
            gpu("part", consumesCounters=[consumes("gpu-0", memory="40Gi")]),
            of=2,
        ),
        piece(
            "counters",
            pool="n1",
            nodeName="n1",
            of=2,
            sharedCounters=[counter_set("gpu-0", memory="80Gi")],
        ),
        claim("h", result("part", pool="n1")),
    )
    features = Features.preset("1.36")
    request = exactly("r", 1, 'device.driver.startsWith("gpu")')

    found = explain(
        world, [wanted(request | {"name": "r"})], features=features, node_names=["n1"]
    )

    assert found.verdict == "full"
    (short,) = stage(found, "counters").losses
    assert (short.what, short.name, short.note) == (
        "counter",
        "memory of gpu-0",
        "40Gi short",
    )
    assert ("wait", "default/h", "") in relaxed(found)


def test_a_taint_can_be_tolerated_and_another_class_used():
    world = cluster(
        device_class("gpu", IS_GPU),
        device_class("any"),
        on("n1", gpu("a"), device("nic", attributes={"type": string("nic")})),
        taint_rule("rule", pool="n1", device="a"),
    )

    found = explain(world, [wanted(exactly())], features=Features.preset("1.36"))

    assert found.verdict == "hopeless"
    assert ("tolerate", "", "k:NoSchedule") in relaxed(found)
    assert ("other class", "gpu", "any") in relaxed(found)


def test_every_alternative_has_a_funnel_of_its_own():
    world = cluster(on("n1", gpu("a")))
    request = first_of("r", exactly("big", 4), exactly("all", 2))

    found = explain(world, [wanted(request)])

    assert [r.request for r in found.requests] == ["r/big", "r/all"]
    assert ("fewer", "4", "1") in relaxed(found)
    assert ("fewer", "2", "1") in relaxed(found)


def test_a_claim_that_cannot_be_asked_says_why():
    found = explain(cluster(on("n1", gpu("a"))), [wanted(exactly(cls="nope"))])

    assert found.verdict == "refused"
    assert 'DeviceClass "nope" does not exist' in found.sentence


def test_a_request_for_all_counts_what_it_means():
    world = cluster(on("n1", gpu("a"), gpu("b")), claim("h", result("a", pool="n1")))

    found = explain(world, [wanted(everything("r"))])

    assert found.requests[0].everything
    assert found.groups[0].requests[0].wanted == 2
    assert ("wait", "default/h", "") in relaxed(found)


def test_work_ends_when_the_caller_says_so():
    world = cluster(on("n1", gpu("a")), claim("h", result("a", pool="n1")))

    found = explain(world, [wanted(exactly())], stop=lambda: True)

    assert not found.complete
    assert found.verdict == "undecided"


def test_nodes_are_grouped_by_what_is_said_about_them():
    nodes = [f"n{n}" for n in range(1, 7)]
    world = cluster(
        *(node(name) for name in nodes),
        *(on(name, gpu("a"), gpu("b")) for name in nodes),
        *(claim(f"h{name}", result("a", pool=name)) for name in nodes[:4]),
    )

    found = explain(world, [wanted(exactly("r", 3))])

    assert [(g.nodes, g.names) for g in found.groups] == [
        (2, ("n5", "n6")),
        (4, ("n1", "n2", "n3", "n4")),
    ]
    assert "such a node" in found.groups[0].sentence.lower()


@pytest.mark.parametrize("quirks", ["none", "1.36"])
def test_what_an_explanation_says_of_random_clusters_is_true(quirks):
    fits = full = hopeless = proved = 0
    for case in CASES[::3]:
        features = Features.from_gates(case["features"])
        snapshot, claims = snapshot_of(case), claims_of(case)
        claims = [with_defaults(c) for c in claims]
        names = sorted(snapshot.nodes)

        found = explain(
            snapshot, claims, node_names=names, features=features, quirks=quirks
        )

        if found.verdict in ("refused", "undecided"):
            continue
        outcome = place(
            snapshot, claims, node_names=names, features=features, quirks=quirks
        )
        assert (found.verdict == "fits") == isinstance(outcome, Fits), case["id"]
        fits += found.verdict == "fits"
        full += found.verdict == "full"
        hopeless += found.verdict == "hopeless"
        for request in found.requests:
            left = [s.devices for s in request.stages]
            assert left == sorted(left, reverse=True), case["id"]
            for before, after in zip(request.stages, request.stages[1:], strict=False):
                assert before.devices - after.devices == after.lost, case["id"]
        for relaxation in found.relaxations:
            if relaxation.spec is None:
                continue
            changed = list(claims)
            spec = read(
                {"kind": "ResourceClaim", "spec": relaxation.spec}, ResourceClaim
            ).spec
            assert isinstance(spec, ResourceClaimSpec)
            changed[relaxation.claim] = msgspec.structs.replace(
                claims[relaxation.claim], spec=spec
            )
            again = place(
                snapshot, changed, node_names=names, features=features, quirks=quirks
            )
            assert isinstance(again, Fits), (case["id"], relaxation)
            assert again.node_name == relaxation.node, (case["id"], relaxation)
            proved += 1
    assert min(fits, full, hopeless, proved) > 2, (fits, full, hopeless, proved)


def test_the_default_features_are_those_of_the_engine():
    world = cluster(on("n1", gpu("a")))
    assert explain(world, [wanted(exactly())], features=DEFAULT).verdict == "fits"
