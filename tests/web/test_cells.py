"""Pieces of HTML: escaped, with words beside colours."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.conf import settings

from web import highlight
from web.looks import LOOKS
from web.pages import cells

EVIL = "<script>alert(1)</script>\"'"
NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "html",
    [
        cells.badge(EVIL, title=EVIL),
        cells.link("/x", EVIL, title=EVIL),
        cells.mono(EVIL),
        cells.copyable(EVIL),
        cells.tags([EVIL]),
        cells.joined([EVIL]),
        cells.bar([cells.Part("used", 1, EVIL)], 2),
        highlight.expression(EVIL),
        highlight.yaml_lines(highlight.to_yaml({EVIL: [EVIL]})),
    ],
)
def test_what_a_cluster_sends_is_never_markup(html: str) -> None:
    assert "<script" not in html
    assert "\"'" not in html.replace("&quot;&#x27;", "")


@pytest.mark.parametrize("word", LOOKS)
def test_every_state_has_an_icon_of_the_sprite_and_its_word(word: str) -> None:
    sprite = (Path(settings.BASE_DIR) / "static/icons.svg").read_text("utf-8")
    assert f'id="{LOOKS[word].icon}"' in sprite
    assert f"</svg>{word}</span>" in cells.badge(word)


def test_every_icon_that_code_or_templates_name_exists() -> None:
    root = Path(settings.BASE_DIR)
    sprite = (root / "static/icons.svg").read_text("utf-8")
    known = set(re.findall(r'id="([\w-]+)"', sprite))
    used: set[str] = set()
    for template in (root / "templates").rglob("*.html"):
        text = template.read_text("utf-8")
        used.update(re.findall(r'\{% icon "([\w-]+)"', text))
        used.update(re.findall(r'icon_name="([\w-]+)"', text))
        used.update(re.findall(r'\{% toned "\w+" "([\w-]+)"', text))
    assert used - known == set()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-3, "0 s"),
        (0.4, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (3599, "59 min"),
        (3600, "1 h"),
        (86400 * 3, "3 d"),
        (86400 * 800, "2 y"),
    ],
)
def test_ages_are_short(seconds: float, words: str) -> None:
    assert cells.span_words(seconds) == words


def test_an_age_has_the_exact_time_as_title() -> None:
    html = cells.age(NOW - timedelta(hours=5), now=NOW)
    assert 'title="29 Nov 2026 07:00:00 UTC"' in html
    assert ">5 h<" in html


def test_a_bar_says_its_numbers_and_never_overflows() -> None:
    html = cells.usage({"free": 1, "in use": 2, "shared": 0})
    assert 'aria-label="2 in use, 1 free of 3"' in html
    assert "shared" not in html
    widths = [float(w) for w in re.findall(r'<rect x="[\d.]+" width="([\d.]+)"', html)]
    assert sum(widths) <= 100.01
    over = cells.bar([cells.Part("used", 150, "x")], 100)
    assert 'width="100.00"' in over


def test_nothing_is_shown_as_a_dash() -> None:
    assert cells.usage_cell({}) == cells.NOTHING
    assert cells.age(None) == cells.NOTHING
    assert cells.mono("") == cells.NOTHING


def test_counts_know_their_plural() -> None:
    assert cells.count(1, "device") == "1 device"
    assert cells.count(1024, "device") == "1,024 devices"
    assert cells.count(2, "class", "classes") == "2 classes"


def test_an_expression_is_marked_up_and_complete() -> None:
    text = "device.attributes['a.b'].x >= 3 && !(true) // why"
    html = highlight.expression(text)
    assert '<span class="hl-string">&#x27;a.b&#x27;</span>' in html
    assert '<span class="hl-number">3</span>' in html
    assert '<span class="hl-keyword">true</span>' in html
    assert '<span class="hl-comment">// why</span>' in html
    plain = re.sub(r"<[^>]+>", "", html)
    assert plain == text.replace("&", "&amp;").replace("'", "&#x27;").replace(
        ">", "&gt;"
    )


def test_yaml_is_in_kubectls_order_with_long_text_as_a_block() -> None:
    text = highlight.to_yaml({"b": "one\ntwo\n", "a": [1, True, None], "c": "true"})
    assert text == "a:\n- 1\n- true\n- null\nb: |\n  one\n  two\nc: 'true'\n"
    assert highlight.yaml_lines(text).count('class="line"') == 8
