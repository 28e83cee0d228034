"""Downloads: safe in a spreadsheet, streamed, the same for WSGI and ASGI."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import Iterator
from typing import Any, cast

import pytest
from django.core.handlers.asgi import ASGIRequest
from django.test import AsyncRequestFactory, RequestFactory

from web.exports import csv_safe, export

HEADER = ["name", "count"]


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "  =1", "＝1"],
)
def test_text_that_a_spreadsheet_would_run_is_quoted(text: str) -> None:
    assert csv_safe(text) == f"'{text}"


@pytest.mark.parametrize("value", [-5, 3.5, None, True, "-5", "+1.5", "gpu-0", "a=b"])
def test_numbers_and_ordinary_text_stay(value: object) -> None:
    assert csv_safe(value) == value


def rows(number: int) -> Iterator[list[Any]]:
    for index in range(number):
        yield [f"=row {index}", index]


def text_of(number: int, format_: Any, rf: RequestFactory) -> str:
    response = export(
        rf.get("/"), format_=format_, file_name="x", header=HEADER, rows=rows(number)
    )
    return response.getvalue().decode()


@pytest.mark.parametrize("number", [0, 1, 199, 200, 1001])
def test_every_row_comes_once(number: int, rf: RequestFactory) -> None:
    table = list(csv.reader(io.StringIO(text_of(number, "csv", rf))))
    assert table[0] == HEADER
    assert table[1:] == [[f"'=row {n}", str(n)] for n in range(number)]
    assert json.loads(text_of(number, "json", rf)) == [
        {"name": f"=row {n}", "count": n} for n in range(number)
    ]


def test_an_export_reads_rows_as_they_are_sent(rf: RequestFactory) -> None:
    taken = 0

    def counted() -> Iterator[list[Any]]:
        nonlocal taken
        for row in rows(100_000):
            taken += 1
            yield row

    response = export(
        rf.get("/"), format_="csv", file_name="x", header=HEADER, rows=counted()
    )
    next(cast("Iterator[bytes]", response.streaming_content))
    assert taken <= 200


def test_an_asgi_server_gets_an_asynchronous_stream() -> None:
    request = AsyncRequestFactory().get("/")
    assert isinstance(request, ASGIRequest)
    response = export(
        request, format_="csv", file_name="x", header=HEADER, rows=rows(450)
    )
    assert response.is_async

    async def read() -> list[bytes]:
        return [part async for part in response.streaming_content]  # type: ignore[union-attr]  # is_async

    parts = asyncio.run(read())
    assert len(parts) == 3
    assert b"".join(parts).count(b"\n") == 451


def test_the_file_has_a_name(rf: RequestFactory) -> None:
    response = export(
        rf.get("/"), format_="csv", file_name="nodes", header=HEADER, rows=[]
    )
    assert response["Content-Disposition"] == 'attachment; filename="nodes.csv"'
