"""Requests and answers of the stand-in, without sockets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from cluster.standin.answers import (
    StatusError,
)

JSON: Final = "application/json"
TEXT: Final = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request; header names in lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer; Content-Length follows from ``body``."""

    code: int
    body: bytes
    content_type: str = JSON
    headers: dict[str, str] = field(default_factory=dict)


def json_answer(code: int, body: Any) -> Answer:
    return Answer(code, msgspec.json.encode(body))


def refusal_answer(error: StatusError) -> Answer:
    headers = {}
    if error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    return Answer(error.code, msgspec.json.encode(error.body()), headers=headers)


def too_many_requests(retry_after: int) -> Answer:
    text = b"Too many requests, please try again later.\n"
    return Answer(429, text, TEXT, {"Retry-After": str(retry_after)})
