"""The CEL page: what does this expression do on my devices?"""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from inventory.models import Cluster
from tests.claims.cel_lab import (
    BIG,
    BOTH,
    MODEL_B,
    TARGET,
    address,
    answer,
    device,
    diagnostics,
    links,
    page,
    rows,
    sentence,
    terms,
    text_of,
)
from tests.inventory.views.conftest import slice_
from tests.mirrored import mirror

# --- the answer --------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("true", "Matches all 5 devices."),
        ("false", "Matches none of 5 devices."),
        (
            "device.attributes['d.example'].?model.orValue('') == 'B'",
            "Matches 3 of 5 devices.",
        ),
        (
            MODEL_B,
            "Matches 3 of 5 devices; 1 has no answer, so the scheduler would stop at it.",
        ),
        (
            "device.attributes['x'].y == 1",
            "None of the 5 devices has an answer: the scheduler would stop at the first.",
        ),
    ],
)
def test_the_first_thing_is_one_sentence(
    expression: str, said: str, lab: Cluster, viewer: Client
) -> None:
    html = page(viewer, address(expression=expression))
    assert sentence(html) == said
    assert "<html" in html


def test_the_fragment_is_the_answer_and_its_evidence_alone(
    lab: Cluster, viewer: Client
) -> None:
    html = answer(viewer, expression=BOTH)
    assert "<html" not in html
    assert html.count('id="cel-answer"') == 1
    assert 'id="cel-evidence" hx-swap-oob="true"' in html


def test_nothing_typed_shows_what_can_be_read_and_where_to_start(
    lab: Cluster, viewer: Client
) -> None:
    html = page(viewer, address())
    assert sentence(html) == "Type an expression to try it on 5 devices."
    assert 'device.attributes["d.example"].model' in unescape(html)
    assert "big.example" in html
    tried = next(href for href in links(html, "attributes") if "model" in href)
    assert "Matches 3 of 5" in page(viewer, f"/c/lab/cel/{tried}")


def test_an_expression_is_kept_as_it_was_typed(lab: Cluster, viewer: Client) -> None:
    typed = "\n\n  true // é 😀 <b>&amp;</b>\r\n"
    html = page(viewer, address(expression=typed))
    area = re.search(
        r'<textarea id="cel-expression"[^>]*>\n(.*?)</textarea>', html, re.S
    )
    assert area
    assert unescape(area[1]) == typed.replace("\r\n", "\n")


def test_a_refused_expression_is_shown_as_kubernetes_prints_it(
    lab: Cluster, viewer: Client
) -> None:
    html = answer(viewer, expression="device.driver == 'x' &&\n  device.nope")
    assert sentence(html) == "The API server would refuse it."
    said = unescape(html)
    assert "compilation failed: ERROR: <input>:2:9: undefined field 'nope'" in said
    assert " |   device.nope\n | ........^" in said
    assert "cel-evidence" not in html  # what stood there stays


def test_the_page_of_a_refused_expression_has_room_for_evidence(
    lab: Cluster, viewer: Client
) -> None:
    assert 'id="cel-evidence"' in page(viewer, address(expression="device."))


def test_the_editor_gets_problems_with_offsets_in_code_points(
    lab: Cluster, viewer: Client
) -> None:
    html = answer(viewer, expression="'😀' == device.driver && device.nope")
    (one,) = diagnostics(html)
    assert (one["start"], one["severity"]) == (30, "error")
    assert diagnostics(html, "cel-compare") == []


def test_the_editor_gets_warnings(lab: Cluster, viewer: Client) -> None:
    html = answer(viewer, expression=MODEL_B)
    found = diagnostics(html)
    assert {"warning"} == {one["severity"] for one in found}
    assert MODEL_B[found[0]["start"] : found[0]["end"]] in MODEL_B


def test_a_suggestion_is_a_link_to_the_repaired_expression(
    lab: Cluster, viewer: Client
) -> None:
    broken = MODEL_B.replace("'B'", "'b'")
    html = answer(viewer, expression=broken)
    (applied,) = {
        unescape(text)
        for text in re.findall(r'data-cel-set="([^"]*)"', html)
        if "B" in text
    }
    assert applied.replace('"', "'") == MODEL_B
    assert any(
        parse_qs(urlsplit(href).query)["expression"] == [applied]
        for href in links(html, "Use")
    )


def test_the_cost_is_set_against_the_limit(lab: Cluster, viewer: Client) -> None:
    html = answer(viewer, expression="device.driver == 'x'")
    assert re.search(r"Costs \d+( to \d+)? of the 1,000,000", text_of(html))


def test_an_expression_that_may_cost_too_much_is_refused_but_answered(
    lab: Cluster, viewer: Client
) -> None:
    loop = "device.attributes.all(a, {}.all(b, true))"
    for name in "cdefg":
        loop = f"device.attributes.all({name}, {loop})"
    html = answer(viewer, expression=loop)
    assert sentence(html).startswith("The API server would refuse it: it may cost")
    assert "too complex, exceeds cost limit" in html
    assert "of 5 devices" in text_of(html) or "all 5 devices" in text_of(html)


def test_distinct_errors_are_counted_with_an_example(
    lab: Cluster, viewer: Client
) -> None:
    html = answer(viewer, expression=MODEL_B)
    errors = re.search(r'<ul class="cel-errors".*?</ul>', html, re.S)
    assert errors
    assert text_of(errors[0]) == "1 × no such key: model e.g. bare"


# --- terms ---------------------------------------------------------------------


def test_every_term_has_its_outcomes(lab: Cluster, viewer: Client) -> None:
    html = answer(viewer, expression=BOTH)
    assert [re.sub(r"^.*?(\d)", r"\1", row.split("0 error")[-1]) for row in terms(html)]
    first, second = terms(html)
    assert first.endswith("3 1 1 –")
    assert second.endswith("2 2 1 excludes 1")


@pytest.mark.parametrize(
    ("of", "tab", "names"),
    [
        ("alone", "", ["b16"]),
        ("true", "true", ["b80-0", "b80-1"]),
        ("false", "false", ["b16", "a16"]),
        ("error", "error", ["bare"]),
    ],
)
def test_a_number_of_a_term_shows_its_devices(
    of: str, tab: str, names: list[str], lab: Cluster, viewer: Client
) -> None:
    start = BOTH.index(BIG)
    term = f"{start}-{start + len(BIG)}-{of}"
    html = answer(viewer, expression=BOTH, term=term, tab=tab)
    assert rows(html) == names
    href = next(href for href in links(html) if f"{term}" in href)
    assert page(viewer, f"/c/lab/cel/{href}")
    assert 'id="cel-unchosen"' in html


def test_what_a_term_alone_excludes_is_counted_as_the_terms_say(
    lab: Cluster, viewer: Client
) -> None:
    nested = (
        f"({MODEL_B} || device.driver == 'other') && "
        f"!({BIG}) && (device.driver == 'd.example' ? true : {MODEL_B})"
    )
    html = answer(viewer, expression=nested)
    checked = 0
    for words in ("excludes", "admits"):
        for href in links(html, words):
            number = next(
                int(found)
                for link, found in re.findall(
                    rf'href="([^"]*)"[^>]*>{words} (\d+)<', html
                )
                if unescape(link) == href
            )
            chosen = page(viewer, f"/c/lab/cel/{href}", **TARGET)
            assert (
                sum(map(int, re.findall(r'<span class="n">(\d+)</span>', chosen)))
                == number
            )
            checked += 1
    assert checked >= 2


@pytest.mark.parametrize(
    "term", ["0-5-true", "9-1-alone", "x", "0-999999-error", "-1-2-true"]
)
def test_a_term_that_is_none_shows_all_devices(
    term: str, lab: Cluster, viewer: Client
) -> None:
    html = answer(viewer, expression=BOTH, term=term, tab="true")
    assert rows(html) == ["b80-0", "b80-1"]
    assert "cel-unchosen" not in html


# --- devices -------------------------------------------------------------------


def test_devices_come_with_the_values_that_were_read_and_the_reason(
    lab: Cluster, viewer: Client
) -> None:
    html = answer(viewer, expression=BOTH, tab="false")
    assert rows(html) == ["b16", "a16"]
    table = text_of(html[html.index("<table data-walk") :])
    assert "d.example/model d.example/memory" in table
    b16, a16 = table.index("b16"), table.index("a16")
    assert f'n1 {BIG} "B" 16Gi Explain' in table[b16:a16]
    assert f'n1 {MODEL_B} "A" – Explain' in table[a16:]


def test_a_device_without_an_answer_shows_the_error(
    lab: Cluster, viewer: Client
) -> None:
    html = answer(viewer, expression=MODEL_B, tab="error")
    assert rows(html) == ["bare"]
    assert "no such key: model" in html


def test_devices_link_to_their_page_their_node_and_their_explanation(
    lab: Cluster, viewer: Client
) -> None:
    html = answer(viewer, expression=BOTH)
    assert "/c/lab/devices/d.example/p1/b80-0/" in links(html)
    assert "/c/lab/nodes/n1/" in links(html)
    explained = next(href for href in links(html, "Explain"))
    assert page(viewer, explained)


def test_fifty_devices_are_shown_and_the_others_are_a_list(
    viewer: Client, db: None
) -> None:
    mirror(
        [
            slice_(
                f"s{n}", [device(f"d{n}-{k}", model="M") for k in range(30)], count=3
            )
            for n in range(3)
        ],
        name="lab",
    )
    html = answer(viewer, expression="device.attributes['d.example'].model == 'M'")
    assert len(rows(html)) == 50
    assert "The first 50 of 90" in text_of(html)
    listed = next(iter(links(html, "in the list of devices")))
    shown = viewer.get(listed)
    assert shown.context["list"].paginator.count == 90


@pytest.mark.parametrize("tab", ["true", "false"])
@pytest.mark.parametrize(
    "scope",
    [
        {},
        {"class": "big.example"},
        {"driver": "d.example"},
        {"node": "n1"},
        {"pool": "p1"},
        {"state": "free"},
    ],
)
def test_the_list_of_devices_has_as_many_as_the_tab(
    tab: str, scope: dict[str, str], lab: Cluster, viewer: Client
) -> None:
    expression = "device.attributes['d.example'].?model.orValue('') == 'B' // models"
    html = answer(viewer, expression=expression, tab=tab, **scope)
    number = (
        int(re.findall(r"All (\d+) in the list of devices", html)[0])
        if "All " in html
        else 0
    )
    for listed in links(html, "in the list of devices"):
        assert (
            viewer.get(listed).context["list"].paginator.count
            == number
            == len(rows(html))
        )


# --- scope ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        ({"class": "any.example"}, "Matches all 5 devices of class any.example."),
        ({"driver": "d.example"}, "Matches all 5 devices of driver d.example."),
        ({"node": "n1"}, "Matches all 5 devices on node n1."),
        ({"pool": "p1", "state": "free"}, "Matches all 5 free devices in pool p1."),
        ({"node": "n2"}, "There are no devices on node n2 to try it on."),
        (
            {"class": "gone.example"},
            "The cluster has no device class “gone.example” (any more).",
        ),
        ({"state": "odd"}, "There is no state “odd”"),
    ],
)
def test_the_sentence_names_the_devices_that_were_asked(
    scope: dict[str, str], said: str, lab: Cluster, viewer: Client
) -> None:
    for html in (
        answer(viewer, expression="true", **scope),
        page(viewer, address(expression="true", **scope)),
    ):
        assert sentence(html).startswith(said)


# --- comparing -------------------------------------------------------------------


def test_two_expressions_are_compared_device_by_device(
    lab: Cluster, viewer: Client
) -> None:
    html = answer(viewer, expression=MODEL_B, compare=BIG)
    said = text_of(html)
    assert "Only the first matches 1 device; both match 2." in said
    assert "match 2 1 0 do not 0 1 0 no answer 0 0 1" in said
    assert rows(html) == ["b16"]
    assert "the whole expression" in said[said.index("Why the second does not match") :]
    assert rows(answer(viewer, expression=MODEL_B, compare=BIG, tab="both")) == [
        "b80-0",
        "b80-1",
    ]
    assert rows(answer(viewer, expression=BIG, compare=MODEL_B, tab="second")) == [
        "b16"
    ]


@pytest.mark.parametrize("second", ["device.nope", "(", "device.driver"])
def test_a_second_expression_that_is_refused_leaves_the_first_answer(
    second: str, lab: Cluster, viewer: Client
) -> None:
    html = answer(viewer, expression=BOTH, compare=second)
    assert sentence(html).startswith("Matches 2 of 5")
    assert "refuse the second expression" in html
    assert rows(html) == ["b80-0", "b80-1"]


def test_swapping_keeps_the_rest_of_the_question(lab: Cluster, viewer: Client) -> None:
    html = answer(viewer, expression=MODEL_B, compare=BIG, node="n1")
    (swap,) = links(html, "Swap the two")
    assert parse_qs(urlsplit(swap).query) == {
        "expression": [BIG],
        "compare": [MODEL_B],
        "node": ["n1"],
    }
