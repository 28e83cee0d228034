"""Laws of advice: nothing makes it fail, and it never changes what it looks at."""

from __future__ import annotations

import copy

from hypothesis import given, settings
from hypothesis import strategies as st

from dra.snapshot import Snapshot
from dra.validation import Gates
from dra.validation.advice import CODES, Advice, advise
from dra.validation.gates import ALL_OF_1_36
from tests.dra.validation.objects import (
    claim,
    device_class,
    namespace,
    of_driver,
    piece,
    request,
    template,
)
from tests.dra.validation.strategies import ANY_JSON, CASES, changed

GPU, NIC = "gpu.example.com", "nic.example.com"
_SNAPSHOT = Snapshot.build(
    [
        of_driver("gpu", GPU),
        of_driver("nic", NIC),
        device_class("any"),
        device_class("broken", "device.nothing"),
        device_class("picky", f'device.attributes["{GPU}"].model == "A"'),
        namespace("team"),
        piece(
            GPU,
            *(
                {
                    "name": f"gpu-{index}",
                    "attributes": {
                        "model": {"string": "AB"[index % 2]},
                        "numa": {"int": index // 2},
                        "tags": {"strings": ["a", "b"][: index % 3]},
                    },
                    "capacity": {"memory": {"value": f"{index + 1}Gi"}},
                }
                for index in range(4)
            ),
        ),
        piece(
            NIC,
            {
                "name": "nic-0",
                "allowMultipleAllocations": True,
                "attributes": {f"{GPU}/numa": {"int": -1}},
                "capacity": {
                    "bandwidth": {
                        "value": "10G",
                        "requestPolicy": {"default": "1G", "validRange": {"min": "1G"}},
                    }
                },
            },
            allNodes=True,
        ),
    ]
)
_CLAIM = claim(
    request("gpus", "gpu", f'device.attributes["{GPU}"].model == "A"', count=2),
    {
        "name": "either",
        "firstAvailable": [
            {
                "name": "one",
                "deviceClassName": "nic",
                "capacity": {"requests": {"bandwidth": "2G"}},
            },
            {"name": "two", "deviceClassName": "picky", "allocationMode": "All"},
        ],
    },
    request("odd", "broken", adminAccess=True),
    request("loose", "any", tolerations=[{"operator": "Exists"}]),
    constraints=[
        {"requests": ["gpus", "either"], "matchAttribute": f"{GPU}/numa"},
        {"distinctAttribute": f"{GPU}/model"},
    ],
)
_SENT = st.sampled_from(
    [_CLAIM, template(_CLAIM), device_class("own", "device.driver == 'x'")]
)
_GATES = st.sampled_from([Gates(), ALL_OF_1_36, Gates.preset("1.37")])


def _is_sound(found: tuple[Advice, ...]) -> None:
    for told in found:
        assert told.message
        assert told.field
        assert told.code.split(":")[0] in CODES
        assert 0 <= told.start <= max(told.start, told.end)


@given(sent=ANY_JSON, gates=_GATES)
def test_of_any_json_there_is_advice_or_none(sent, gates):
    _is_sound(advise(sent, _SNAPSHOT, features=gates))


@settings(max_examples=300, deadline=None)
@given(sent=_SENT, data=st.data(), gates=_GATES)
def test_a_claim_with_anything_at_any_place_gets_advice(sent, data, gates):
    _is_sound(advise(data.draw(changed(sent)), _SNAPSHOT, features=gates))


@settings(deadline=None)
@given(case=CASES)
def test_what_is_sent_stays_as_it_is(case):
    before = copy.deepcopy(case.request.object)
    _is_sound(advise(case.request.object, _SNAPSHOT, namespace="team"))
    assert case.request.object == before
