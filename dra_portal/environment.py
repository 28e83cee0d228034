"""Typed reading of environment variables; a wrong value stops the start with its name."""

from __future__ import annotations

import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, default)


def boolean(name: str, *, default: bool) -> bool:
    raw = os.environ.get(name)
    if raw is None or raw == "":
        return default
    if raw.lower() in _TRUE:
        return True
    if raw.lower() in _FALSE:
        return False
    raise ImproperlyConfigured(f"{name} is {raw!r}: use true or false.")


def integer(name: str, default: int, *, least: int = 0) -> int:
    """Times and counts: nothing below ``least``."""
    raw = os.environ.get(name)
    if raw is None or raw == "":
        return default
    wanted = f"use a whole number of at least {least}."
    try:
        found = int(raw)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {raw!r}: {wanted}") from None
    if found < least:
        raise ImproperlyConfigured(f"{name} is {raw!r}: {wanted}")
    return found


def address(name: str) -> str:
    """``host:port`` or ``:port``, empty when not set."""
    raw = os.environ.get(name, "")
    _, colon, port = raw.rpartition(":")
    if raw and not (colon and port.isdecimal() and 0 < int(port) < 65536):
        raise ImproperlyConfigured(f"{name} is {raw!r}: use host:port, such as :9100.")
    return raw


def level(name: str, default: str) -> str:
    """The name of a level of logs, in capitals."""
    raw = text(name).upper() or default
    if raw not in _LEVELS:
        raise ImproperlyConfigured(f"{name} is {raw!r}: use {', '.join(_LEVELS)}.")
    return raw


def listing(name: str, default: str = "") -> list[str]:
    """A comma-separated list, blanks dropped."""
    return [part.strip() for part in text(name, default).split(",") if part.strip()]


def secret(name: str) -> str:
    """The variable itself, or the content of the file that NAME_FILE names."""
    path = os.environ.get(f"{name}_FILE")
    if path:
        try:
            return Path(path).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ImproperlyConfigured(f"{name}_FILE: {error}") from error
    return os.environ.get(name, "")
