"""What a request asks for in its headers, its query and its body."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import yaml

from cluster.standin.answers import (
    Cause,
    StatusError,
    bad_request,
    invalid_options,
)
from cluster.standin.checking import check_strictly
from cluster.standin.messages import (
    JSON,
    Request,
)
from cluster.standin.routes import Route

Json = dict[str, Any]
_YAML: Final = ("application/yaml", "application/apply-patch+yaml")
_VALIDATIONS: Final = ("Ignore", "Warn", "Strict")
_LONGEST_MANAGER: Final = 128
"""Bytes of a fieldManager."""


def as_utf8(header: str) -> str:
    """The text of a header, whose bytes came here read as Latin-1."""
    return header.encode("latin-1", "replace").decode("utf-8", "replace")


def check_accept(header: str) -> None:
    """406 unless plain JSON is acceptable."""
    if not header:
        return
    for part in header.split(","):
        kind, *parameters = (piece.strip() for piece in part.split(";"))
        transformed = any(p.startswith("as=") for p in parameters)
        if kind in (JSON, "*/*", "application/*") and not transformed:
            return
    raise StatusError(
        406,
        "NotAcceptable",
        f"406: Not Acceptable\n\nAvailable representations: {JSON}",
        details={},
    )


def content_type(request: Request) -> str:
    return request.headers.get("content-type", JSON).partition(";")[0].strip().lower()


def decode(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise bad_request(f"the object provided is unrecognized: {error}") from error


def read_object(request: Request) -> Json:
    """The object in the body, JSON or YAML. Raises 400 or 415."""
    sent_as = content_type(request)
    if sent_as not in (JSON, *_YAML):
        raise StatusError(
            415,
            "UnsupportedMediaType",
            "the body of the request was in an unknown format - accepted media types "
            "include: application/json, application/yaml",
        )
    if sent_as == JSON:
        return read_json_object(request)
    try:
        read = yaml.safe_load(request.body)
    except yaml.YAMLError as error:
        raise bad_request(f"the object provided is no YAML: {error}") from error
    if not isinstance(read, dict):
        raise bad_request("the object provided is unrecognized")
    return read


def read_json_object(request: Request) -> Json:
    read = decode(request.body)
    if not isinstance(read, dict):
        raise bad_request("the object provided is unrecognized: it is no JSON object")
    return read


def delete_options(request: Request) -> Json:
    options = read_json_object(request) if request.body.strip() else {}
    if policy := request.query.get("propagationPolicy"):
        options["propagationPolicy"] = policy
    return options


def dry_run(request: Request, verb: str) -> bool:
    """Whether to store nothing; checks the options of a write. Raises 422."""
    value = request.query.get("dryRun", "")
    causes: list[Cause] = []
    if value not in ("", "All"):
        message = f'Unsupported value: ["{value}"]: supported values: "All"'
        causes.append(Cause("FieldValueNotSupported", message, "dryRun"))
    if len(request.query.get("fieldManager", "").encode()) > _LONGEST_MANAGER:
        message = f"Too long: may not be more than {_LONGEST_MANAGER} bytes"
        causes.append(Cause("FieldValueTooLong", message, "fieldManager"))
    if (asked := request.query.get("fieldValidation", "Warn")) not in _VALIDATIONS:
        known = ", ".join(f'"{name}"' for name in _VALIDATIONS)
        message = f'Unsupported value: "{asked}": supported values: {known}'
        causes.append(Cause("FieldValueNotSupported", message, "fieldValidation"))
    if causes:
        raise invalid_options(f"{verb}Options", causes)
    return value == "All"


def check_fields(request: Request, route: Route, sent: Json) -> None:
    if request.query.get("fieldValidation") == "Strict":
        check_strictly(route.kind, route.version, sent)
