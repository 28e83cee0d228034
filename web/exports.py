"""Lists as CSV and JSON, streamed: memory does not grow with the number of rows."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any, Literal

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse

Format = Literal["csv", "json"]

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def csv_safe(value: Any) -> Any:
    """A value that no spreadsheet takes for a formula.

    Text that starts like one gets an apostrophe in front (OWASP, "CSV Injection");
    numbers stay numbers.
    """
    if isinstance(value, dict | list):
        value = json.dumps(value, ensure_ascii=False, sort_keys=True)
    if not isinstance(value, str):
        return value
    looks_like_formula = value.lstrip(" ").startswith(_FORMULA_STARTS)
    if looks_like_formula and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def export(
    request: HttpRequest,
    *,
    format_: Format,
    file_name: str,
    header: Sequence[str],
    rows: Iterable[Sequence[Any]],
) -> StreamingHttpResponse:
    """A download of ``rows``, each as long as ``header``."""
    if format_ == "csv":
        chunks, content_type = _csv(header, rows), "text/csv; charset=utf-8"
    else:
        chunks, content_type = _json(header, rows), "application/json"
    # An ordinary iterator would be collected whole before an ASGI server sends it.
    streamed = _stepped(chunks) if isinstance(request, ASGIRequest) else chunks
    response = StreamingHttpResponse(streamed, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{file_name}.{format_}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(header)
    for index, row in enumerate(rows, start=1):
        writer.writerow([csv_safe(value) for value in row])
        if index % 200 == 0:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def _json(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """An array with one object a line."""
    pending = ["["]
    for index, row in enumerate(rows):
        item = json.dumps(dict(zip(header, row, strict=True)), ensure_ascii=False)
        pending.append(f"{',' if index else ''}\n{item}")
        if len(pending) >= 200:
            yield "".join(pending)
            pending = []
    pending.append("\n]\n")
    yield "".join(pending)


async def _stepped(chunks: Iterator[str]) -> AsyncIterator[str]:
    step = sync_to_async(_next)
    while (chunk := await step(chunks)) is not None:
        yield chunk


def _next(chunks: Iterator[str]) -> str | None:
    return next(chunks, None)
