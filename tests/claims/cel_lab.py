"""A small cluster for CEL pages, and reading what they say."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any
from urllib.parse import urlencode

from django.test import Client

Json = dict[str, Any]

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


def diagnostics(html: str, field: str = "cel-expression") -> list[Json]:
    found = re.search(
        rf'<script type="application/json" nonce="" data-cel-diagnostics="{field}">(.*?)</script>',
        html,
        re.S,
    )
    assert found
    return list(json.loads(found[1]))


def terms(html: str) -> list[str]:
    found = re.search(r'<table class="cel-terms">.*?<tbody>(.*?)</tbody>', html, re.S)
    assert found
    return [text_of(row) for row in re.findall(r"<tr.*?</tr>", found[1], re.S)]
