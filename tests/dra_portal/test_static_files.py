"""Style sheets and scripts: whole, in part, not again, and without a warning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings as django_settings
from django.test import AsyncClient, Client

FILE = Path(django_settings.BASE_DIR) / "static" / "js" / "app.js"
ADDRESS = "/static/js/app.js"


@pytest.mark.parametrize("how", ["GET", "HEAD"])
def test_a_file_comes_whole_with_its_type(client: Client, how: str) -> None:
    answer: Any = client.generic(how, ADDRESS)
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/javascript")
    assert answer["Content-Length"] == str(FILE.stat().st_size)
    assert answer.content == (FILE.read_bytes() if how == "GET" else b"")


def test_an_asgi_server_need_not_collect_it(async_client: AsyncClient) -> None:
    """Of an ordinary iterator Django warns that it has to."""
    answer: Any = async_to_sync(async_client.get)(ADDRESS)
    assert not answer.streaming
    assert answer.content == FILE.read_bytes()


def test_a_part_is_answered_with_that_part(client: Client) -> None:
    answer = client.get(ADDRESS, headers={"Range": "bytes=2-5"})
    assert answer.status_code == 206
    assert answer.content == FILE.read_bytes()[2:6]
    assert answer["Content-Range"] == f"bytes 2-5/{FILE.stat().st_size}"


def test_what_the_browser_has_is_not_sent_again(client: Client) -> None:
    etag = client.get(ADDRESS)["ETag"]
    again = client.get(ADDRESS, headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")


def test_a_file_that_is_not_there_is_no_file(client: Client) -> None:
    assert client.get("/static/js/none.js").status_code == 404


def test_nobody_writes_to_a_file(client: Client) -> None:
    answer = client.post(ADDRESS)
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")
