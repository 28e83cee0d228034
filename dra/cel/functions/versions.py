"""Functions on semantic versions."""

from __future__ import annotations

from dra import semver
from dra.cel import types as t
from dra.cel.declarations import Declarations
from dra.cel.errors import EvaluationError
from dra.cel.values import INT_MAX, INT_MIN
from dra.errors import SemverError
from dra.semver import Version

_V = t.SEMVER


def declare(to: Declarations) -> None:
    to.add("semver", "string_to_semver", (t.STRING,), _V, parse)
    to.add("semver", "string_bool_to_semver", (t.STRING, t.BOOL), _V, parse)
    to.add("isSemver", "is_semver_string", (t.STRING,), t.BOOL, is_semver)
    to.add("isSemver", "is_semver_string_bool", (t.STRING, t.BOOL), t.BOOL, is_semver)
    to.method("isGreaterThan", "semver_is_greater_than", (_V, _V), t.BOOL, greater)
    to.method("isLessThan", "semver_is_less_than", (_V, _V), t.BOOL, less)
    to.method("compareTo", "semver_compare_to", (_V, _V), t.INT, compare)
    to.method("major", "semver_major", (_V,), t.INT, lambda v: _int64(v.major))
    to.method("minor", "semver_minor", (_V,), t.INT, lambda v: _int64(v.minor))
    to.method("patch", "semver_patch", (_V,), t.INT, lambda v: _int64(v.patch))


def parse(text: str, normalise: bool = False) -> Version:
    try:
        return semver.parse(text, normalise=normalise)
    except SemverError as error:
        raise EvaluationError(str(error)) from error


def is_semver(text: str, normalise: bool = False) -> bool:
    try:
        semver.parse(text, normalise=normalise)
    except SemverError:
        return False
    return True


def greater(left: Version, right: Version) -> bool:
    return left > right


def less(left: Version, right: Version) -> bool:
    return left < right


def compare(left: Version, right: Version) -> int:
    return (left > right) - (left < right)


def _int64(number: int) -> int:
    # The reference reinterprets the unsigned number.
    return number if number <= INT_MAX else number + 2 * INT_MIN
