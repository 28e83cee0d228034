from __future__ import annotations

import pytest

from cluster import errors
from cluster.errors import from_response, from_status

STATUS = (
    b'{"kind":"Status","status":"Failure","message":"%s","reason":"%s","code":%d,'
    b'"details":{"name":"x","causes":[{"message":"must be set","field":"spec.a"}]}}'
)


@pytest.mark.parametrize(
    ("code", "reason", "cls"),
    [
        (401, b"Unauthorized", errors.Unauthorized),
        (403, b"Forbidden", errors.Forbidden),
        (404, b"NotFound", errors.NotFound),
        (409, b"Conflict", errors.Conflict),
        (409, b"AlreadyExists", errors.AlreadyExists),
        (410, b"Expired", errors.Gone),
        (422, b"Invalid", errors.Invalid),
        (429, b"TooManyRequests", errors.TooManyRequests),
        (500, b"InternalError", errors.ServerError),
        (504, b"Timeout", errors.ServerError),
        (405, b"MethodNotAllowed", errors.ApiError),
    ],
)
def test_a_status_becomes_the_error_of_its_code(code, reason, cls):
    error = from_response(code, {}, STATUS % (b"why", reason, code))
    assert type(error) is cls
    assert (error.code, error.reason) == (code, reason.decode())
    assert error.message == "why"
    assert "why" in str(error)
    assert error.causes == [("spec.a", "must be set")]


def test_a_plain_text_429_keeps_its_retry_after():
    """The API server's flow control sends no Status object."""
    body = b"Too many requests, please try again later.\n"
    error = from_response(429, {"Retry-After": "3"}, body)
    assert isinstance(error, errors.TooManyRequests)
    assert error.retry_after == 3
    assert str(error) == "Too many requests, please try again later."


@pytest.mark.parametrize("value", ["Wed, 21 Oct 2026 07:28:00 GMT", "-1", "inf", "x"])
def test_a_retry_after_that_is_no_number_of_seconds_counts_as_absent(value):
    assert from_response(429, {"Retry-After": value}, b"").retry_after is None


def test_a_retry_after_in_the_details_counts():
    error = from_status({"code": 504, "details": {"retryAfterSeconds": 2}})
    assert error.retry_after == 2


def test_a_page_of_a_proxy_is_not_shown_as_a_message():
    error = from_response(502, {}, b"<html><body>Bad Gateway</body></html>")
    assert str(error) == "the server answered 502"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"kind": 5}', b"\xff"])
def test_a_body_that_is_no_status_still_gives_the_error(body):
    error = from_response(500, {}, body)
    assert isinstance(error, errors.ServerError)
    assert error.code == 500
    assert error.causes == []


def test_absent_kind_and_absent_object_are_told_apart():
    kind = from_status({"code": 404, "reason": "NotFound", "details": {}})
    one = from_status({"code": 404, "reason": "NotFound", "details": {"name": "x"}})
    assert isinstance(kind, errors.NotFound)
    assert isinstance(one, errors.NotFound)
    assert kind.not_served
    assert not one.not_served


@pytest.mark.parametrize(
    ("code", "write", "unknown"),
    [
        (500, True, True),
        (504, True, True),
        (503, True, False),
        (429, True, False),
        (409, True, False),
        (500, False, False),
    ],
)
def test_only_a_write_that_a_server_failed_on_may_have_happened(code, write, unknown):
    assert from_response(code, {}, b"", write=write).outcome_unknown is unknown


def test_an_error_event_without_a_code_is_a_server_error():
    assert isinstance(from_status({"message": "odd"}), errors.ServerError)
