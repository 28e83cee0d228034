"""The CEL page: what does this expression do on my devices?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.test import Client
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from inventory.models import Cluster, WatchState
from tests.inventory.views.conftest import named, slice_
from tests.mirrored import mirror, mirror_demo

Json = dict[str, Any]
Queries = Callable[[int], AbstractContextManager[object]]

TARGET = {"HX-Request": "true", "HX-Target": "cel-answer"}
MODEL_B = "device.attributes['d.example'].model == 'B'"
BIG = "device.capacity['d.example'].memory.compareTo(quantity('40Gi')) >= 0"
BOTH = f"{MODEL_B} && {BIG}"


def device(name: str, memory: str = "", **attributes: str) -> Json:
    found: Json = {"name": name}
    found["attributes"] = {key: {"string": value} for key, value in attributes.items()}
    if memory:
        found["capacity"] = {"memory": {"value": memory}}
    return found


@pytest.fixture
def lab(db: None) -> Cluster:
    """Five devices: two of model B with 80Gi, one B and one A with 16Gi, one without a model."""
    devices = [
        device("b80-0", "80Gi", model="B"),
        device("b80-1", "80Gi", model="B"),
        device("b16", "16Gi", model="B"),
        device("a16", "16Gi", model="A"),
        device("bare"),
    ]
    bare = {"selectors": [{"cel": {"expression": "device.driver == 'd.example'"}}]}
    big = {
        "selectors": [
            {"cel": {"expression": f"has({BIG.split('.compareTo')[0]}) && {BIG}"}}
        ]
    }
    return mirror(
        [
            named("Node", "n1", {}),
            slice_("s1", devices),
            named("DeviceClass", "any.example", bare),
            named("DeviceClass", "big.example", big),
        ],
        name="lab",
    )


@pytest.fixture
def viewer(client_of: Callable[..., Client]) -> Client:
    return client_of("viewer")


def address(cluster: str = "lab", **parameters: str) -> str:
    return f"/c/{cluster}/cel/?{urlencode(parameters)}"


def page(client: Client, path: str, **headers: str) -> str:
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200, path
    return answer.content.decode()


def answer(client: Client, **parameters: str) -> str:
    return page(client, address(**parameters), **TARGET)


def text_of(html: str) -> str:
    whole_words = re.sub(r"</?span[^>]*>", "", html)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", whole_words)).split())


def sentence(html: str) -> str:
    found = re.search(r'<p class="cel-sentence[^>]*>(.*?)</p>', html, re.DOTALL)
    assert found
    return text_of(found[1])


def rows(html: str) -> list[str]:
    """The names in the table of devices."""
    table = re.search(r'<table data-walk class="cel-devices">(.*?)</table>', html, re.S)
    assert table
    return re.findall(r'<td class="mono"><a [^>]*>([^<]+)</a></td>\s*<td', table[1])


def links(html: str, within: str = "") -> list[str]:
    return [
        unescape(href)
        for href, words in re.findall(
            r'<a [^>]*?href="([^"]*)"[^>]*>(.*?)</a>', html, re.S
        )
        if within in text_of(words)
    ]


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


def diagnostics(html: str, field: str = "cel-expression") -> list[Json]:
    found = re.search(
        rf'<script type="application/json" nonce="" data-cel-diagnostics="{field}">(.*?)</script>',
        html,
        re.S,
    )
    assert found
    return list(json.loads(found[1]))


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


def terms(html: str) -> list[str]:
    found = re.search(r'<table class="cel-terms">.*?<tbody>(.*?)</tbody>', html, re.S)
    assert found
    return [text_of(row) for row in re.findall(r"<tr.*?</tr>", found[1], re.S)]


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


# --- one device ------------------------------------------------------------------


def explained(client: Client, name: str, expression: str = "") -> str:
    query = urlencode({"expression": expression}) if expression else ""
    return page(client, f"/c/lab/cel/device/d.example/p1/{name}/?{query}")


def test_every_part_is_shown_with_its_value_on_one_device(
    lab: Cluster, viewer: Client
) -> None:
    html = explained(viewer, "a16", BOTH)
    assert sentence(html) == "The device does not match."
    steps = html[html.index('class="cel-steps"') :]
    said = text_of(steps)
    assert f"{MODEL_B} false decides bool" in said
    assert '"A" string' in said
    assert re.search(r'<tr class="skipped">\s*<td class="cel-step depth-1">', steps)
    assert "not evaluated" in said


def test_a_device_without_an_answer_says_what_is_there_instead(
    lab: Cluster, viewer: Client
) -> None:
    html = explained(viewer, "b16", "device.attributes['d.example'].modle == 'B'")
    assert "no such key: modle" in sentence(html)
    assert '{"model": "B"}' in text_of(html)


def test_without_an_expression_it_shows_what_the_device_publishes(
    lab: Cluster, viewer: Client
) -> None:
    html = explained(viewer, "b16")
    tried = next(href for href in links(html, "memory"))
    assert "The device matches." in page(
        viewer, f"/c/lab/cel/device/d.example/p1/b16/{tried}"
    )


def test_a_refused_expression_is_told_on_the_page_of_one_device(
    lab: Cluster, viewer: Client
) -> None:
    html = explained(
        viewer, "b16", "device.attributes['d.example'].model > semver('1.0.0')"
    )
    assert sentence(html) == "The API server would refuse it."
    assert diagnostics(html)[0]["severity"] == "error"


def test_a_device_that_is_gone_is_a_clear_404(lab: Cluster, viewer: Client) -> None:
    gone = viewer.get("/c/lab/cel/device/d.example/p1/nope/")
    assert gone.status_code == 404
    assert "any more" in gone.content.decode()


# --- other pages -------------------------------------------------------------------


def test_the_page_of_a_class_counts_every_term(lab: Cluster, viewer: Client) -> None:
    html = page(viewer, "/c/lab/classes/big.example/terms/")
    assert "True on 2, false on 3 of 5 devices." in text_of(html)
    assert len(terms(html)) == 2
    for href in links(html, "excludes"):
        assert rows(page(viewer, href)) == ["b16", "a16"]
    assert "/c/lab/classes/big.example/terms/" in page(
        viewer, "/c/lab/classes/big.example/"
    )


def test_a_class_whose_selector_fails_says_on_how_many_devices(
    viewer: Client, db: None
) -> None:
    spec = {"selectors": [{"cel": {"expression": MODEL_B}}]}
    mirror(
        [
            slice_("s", [device("a"), device("b", model="B")]),
            named("DeviceClass", "c", spec),
        ],
        name="lab",
    )
    said = text_of(page(viewer, "/c/lab/classes/c/terms/"))
    assert (
        "No answer on 1 device: no such key: model (first on d.example/p1/a)." in said
    )


def test_a_change_of_a_class_is_tried_on_all_devices(
    lab: Cluster, viewer: Client
) -> None:
    html = page(viewer, "/c/lab/classes/big.example/")
    (href,) = links(html, "Try a change")
    assert sentence(page(viewer, href)) == "Matches 2 of 5 devices."


def test_a_class_with_several_selectors_is_tried_as_one_expression(
    viewer: Client, db: None
) -> None:
    chain = ["device.driver == 'd.example' // ours", "true || false"]
    spec = {"selectors": [{"cel": {"expression": text}} for text in chain]}
    mirror([slice_("s", [device("a")]), named("DeviceClass", "c", spec)], name="lab")
    (href,) = links(page(viewer, "/c/lab/classes/c/"), "Try a change")
    assert sentence(page(viewer, href)) == "Matches the only device."


def test_selectors_of_claims_and_templates_open_in_cel_within_their_class(
    viewer: Client, db: None
) -> None:
    mirror_demo()
    for path in ("claims/research/any-accelerator/", "templates/inference/mig-small/"):
        href = links(page(viewer, f"/c/demo/{path}"), "Open in CEL")[-1]
        assert parse_qs(urlsplit(href).query)["class"] == ["mig.nvidia.com"]
        assert "devices of class mig.nvidia.com" in sentence(page(viewer, href))


def test_a_device_names_the_first_false_term_of_each_class(
    lab: Cluster, viewer: Client
) -> None:
    said = text_of(page(viewer, "/c/lab/devices/d.example/p1/a16/classes/"))
    assert f"big.example no {BIG} Explain" in said
    said = text_of(page(viewer, "/c/lab/devices/d.example/p1/bare/classes/"))
    assert "big.example no has(device.capacity['d.example'].memory) Explain" in said


# --- doors, bad input, cost --------------------------------------------------------

PATHS = ["cel/", "cel/device/d.example/p1/b16/", "classes/big.example/terms/"]


@pytest.mark.parametrize("path", PATHS)
def test_only_who_may_look_gets_an_answer(
    path: str, lab: Cluster, client_of: Callable[..., Client]
) -> None:
    assert Client().get(f"/c/lab/{path}").status_code == 302
    assert client_of(None).get(f"/c/lab/{path}").status_code == 403
    assert client_of("viewer").get(f"/c/lab/{path}").status_code == 200


def test_an_unknown_cluster_is_a_404(viewer: Client, db: None) -> None:
    assert viewer.get("/c/nowhere/cel/").status_code == 404


def test_a_cluster_without_devices_still_checks_an_expression(
    viewer: Client, db: None
) -> None:
    mirror([], name="lab")
    assert "has no device yet" in sentence(page(viewer, address()))
    html = page(viewer, address(expression="device.driver == 'x'"))
    assert sentence(html) == "The cluster has no device to try it on."
    assert "Costs" in html
    refused = page(viewer, address(expression="device.nope"))
    assert sentence(refused) == "The API server would refuse it."


def test_a_stale_mirror_is_said(lab: Cluster, viewer: Client) -> None:
    assert "as the portal last saw them" not in page(viewer, address())
    WatchState.objects.filter(cluster=lab, kind="ResourceSlice").update(
        state="retrying", error="gone"
    )
    assert "as the portal last saw them" in page(viewer, address())


def test_an_answer_that_takes_too_long_says_so(
    lab: Cluster, viewer: Client, settings: Any
) -> None:
    settings.CEL_SECONDS = 0
    html = page(viewer, address(expression=BOTH, compare=BIG))
    assert sentence(html) == "There is no answer in time."
    assert "It took longer than 0 seconds" in html


MARKUP = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'"


@pytest.mark.parametrize(
    "name",
    [
        "expression",
        "compare",
        "class",
        "driver",
        "node",
        "pool",
        "state",
        "tab",
        "term",
    ],
)
def test_no_text_becomes_markup(name: str, lab: Cluster, viewer: Client) -> None:
    for expression in (BOTH, f"device.driver == r'''{MARKUP}'''", MARKUP):
        parameters = {"expression": expression, name: MARKUP}
        if name != "expression":
            parameters = {"expression": expression, name: MARKUP}
        for html in (page(viewer, address(**parameters)), answer(viewer, **parameters)):
            assert "<script>alert" not in html
            assert "<img src=x" not in html


def test_names_and_values_of_devices_never_become_markup(
    viewer: Client, db: None
) -> None:
    evil = "<img src=x onerror=alert(1)>"
    mirror(
        [slice_("s", [device(evil, model=evil), device("b", model="B")])], name="lab"
    )
    for tab in ("true", "false"):
        html = page(viewer, address(expression=MODEL_B, tab=tab))
        assert evil not in html
    assert evil not in page(viewer, address())


@hypothesis_settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    expression=st.one_of(
        st.text(max_size=60),
        st.lists(
            st.sampled_from(
                [
                    "device",
                    ".driver",
                    ".attributes",
                    "['d']",
                    "&&",
                    "||",
                    "!",
                    "(",
                    ")",
                    "'",
                    "1",
                    "\n",
                    "?",
                    ":",
                    "true",
                    "\0",
                    "😀",
                ]
            ),
            max_size=12,
        ).map("".join),
    ),
    compare=st.text(max_size=20),
)
def test_any_text_has_an_answer(
    expression: str, compare: str, lab: Cluster, viewer: Client
) -> None:
    query = urlencode(
        {"expression": expression, "compare": compare}, errors="surrogatepass"
    )
    for path in (
        f"/c/lab/cel/?{query}",
        f"/c/lab/cel/device/d.example/p1/b16/?{query}",
    ):
        assert viewer.get(path).status_code == 200
        assert viewer.get(path, headers=TARGET).status_code == 200


@pytest.mark.parametrize(
    "expression",
    [
        "x" * 20_000,
        "(" * 3_000,
        "!" * 400 + "true",
        " && ".join(["true"] * 1_000),
        " || ".join(["device.driver == 'x'"] * 400),
    ],
)
def test_a_monster_has_an_answer(expression: str, lab: Cluster, viewer: Client) -> None:
    html = answer(viewer, expression=expression)
    assert sentence(html)
    assert len(html) < 1_000_000


@pytest.mark.parametrize(
    ("parameters", "queries"),
    [
        ({}, 5),
        ({"expression": BOTH}, 5),
        ({"expression": BOTH, "compare": BIG, "class": "big.example"}, 5),
    ],
)
def test_an_answer_costs_the_same_queries_whatever_is_asked(
    parameters: dict[str, str],
    queries: int,
    lab: Cluster,
    viewer: Client,
    django_assert_num_queries: Queries,
) -> None:
    answer(viewer, **parameters)
    with django_assert_num_queries(queries):
        answer(viewer, **parameters)
