"""Kubernetes quantities: ``80Gi``, ``500m``, ``1e3``, exactly.

The value is an integer number of nano units, so adding and comparing lose
nothing. Beside it a quantity remembers two things that do not change the value
and are visible all the same: its format class, which decides how it is written,
and whether Kubernetes holds it as a 64-bit integer with a power of ten
(``compact``), because CEL's ``isInteger`` asks that and not the value: ``1Gi`` is
an integer there, ``1.5Gi`` and ``1000m`` are not.

Source of the rules: the grammar and limits documented with ``Quantity`` in
Kubernetes' API machinery, and the echoes of a 1.36 API server.
"""

from __future__ import annotations

import math
import re
from enum import StrEnum
from functools import lru_cache, total_ordering
from typing import Final, NamedTuple

from dra.errors import QuantityError
from dra.objects import RawQuantity


class Format(StrEnum):
    """The class of suffixes a quantity is written with."""

    BINARY = "BinarySI"
    DECIMAL = "DecimalSI"
    EXPONENT = "DecimalExponent"


class Compact(NamedTuple):
    """``value`` × 10^``scale``, the value within 64 bits, as Kubernetes holds it."""

    value: int
    scale: int


NANO: Final = 10**9
_INT64_MAX: Final = 2**63 - 1
_INT64_MIN: Final = -(2**63)
_DECIMAL: Final = {
    "n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
}  # fmt: skip
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX: Final = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIX: Final = ["", *_BINARY]
_TEXT: Final = re.compile(
    r"""(?P<sign>[+-]?) 0* (?P<whole>[0-9]*) (?P<point>\.)? (?P<part>(?<=\.)[0-9]*)?
        (?P<suffix>[eEinumkKMGTP]* [+-]? [0-9]*)""",
    re.VERBOSE,
)
_EXPONENT: Final = re.compile(r"[eE]([+-]?[0-9]+)")
_MAX_LENGTH: Final = 1000
_MAX_EXPONENT: Final = 3000
_MAX_DIGITS: Final = 18
"""Digits that Kubernetes surely holds in 64 bits."""
_MIN_SCALE: Final = -9


@total_ordering
class Quantity:
    """An immutable quantity. Equal, ordered and hashed by value alone.

    ``nanos`` is the exact value times 10^9. ``str()`` is the text that the API
    server answers with: as written where it takes the writing for canonical,
    else :meth:`canonical`.
    """

    __slots__ = ("_text", "compact", "format", "nanos")

    nanos: int
    format: Format
    compact: Compact | None

    def __init__(
        self,
        nanos: int,
        format: Format = Format.DECIMAL,  # noqa: A002  # the field's name in Kubernetes
        *,
        compact: Compact | None = None,
        text: str = "",
    ) -> None:
        self.nanos = nanos
        self.format = format
        self.compact = compact
        self._text = text

    @classmethod
    def of(cls, value: int, format: Format = Format.DECIMAL) -> Quantity:  # noqa: A002
        """A whole number of units."""
        return cls(value * NANO, format, compact=_compact(value, 0))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self.nanos == other.nanos

    def __lt__(self, other: Quantity) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self.nanos < other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __add__(self, other: Quantity) -> Quantity:
        """The sum, in the format of the left side unless that is zero."""
        if not isinstance(other, Quantity):
            return NotImplemented
        return Quantity(
            self.nanos + other.nanos,
            self.format if self.nanos else other.format,
            compact=_add(self.compact, other.compact),
        )

    def __neg__(self) -> Quantity:
        compact = self.compact and _compact(-self.compact.value, self.compact.scale)
        return Quantity(-self.nanos, self.format, compact=compact)

    def __sub__(self, other: Quantity) -> Quantity:
        if not isinstance(other, Quantity):
            return NotImplemented
        if other.compact is not None and other.compact.value == _INT64_MIN:
            # In 64 bits the least number has no opposite: Kubernetes adds it instead.
            wrapped = _add(self.compact, other.compact)
            if wrapped is not None:
                nanos = wrapped.value * 10 ** (wrapped.scale - _MIN_SCALE)
                form = self.format if self.nanos else other.format
                return Quantity(nanos, form, compact=wrapped)
        return self + -other

    def __bool__(self) -> bool:
        return self.nanos != 0

    @property
    def sign(self) -> int:
        return (self.nanos > 0) - (self.nanos < 0)

    def value(self) -> int:
        """Whole units, fractions rounded away from zero (Go's ``Value()``)."""
        whole = -(-abs(self.nanos) // NANO)
        return whole if self.nanos >= 0 else -whole

    def as_integer(self) -> int:
        """The value as CEL's ``asInteger`` gives it.

        Raises :class:`~dra.errors.QuantityError` where Kubernetes does not hold
        it as a whole 64-bit number, which includes some whole values.
        """
        compact = self.compact
        if compact is not None and compact.scale >= 0:
            value = self.nanos // NANO
            if _INT64_MIN <= value <= _INT64_MAX:
                return value
        raise QuantityError("cannot convert value to integer")

    def is_integer(self) -> bool:
        """Whether :meth:`as_integer` has an answer."""
        try:
            self.as_integer()
        except QuantityError:
            return False
        return True

    def as_float(self) -> float:
        """The nearest that binary floating point easily gets; infinite if too big."""
        base, scale = self.compact or (self.nanos, _MIN_SCALE)
        try:
            return float(base) if scale == 0 else float(base) * 10.0**scale
        except OverflowError:
            return math.copysign(math.inf, base) if base else math.nan

    def canonical(self) -> str:
        """The one way to write this value in this format.

        No fraction, and the largest suffix that allows it. Binary quantities
        below 1024 or with a fraction are written in decimal.
        """
        if not self.nanos:
            return "0"
        if self.format is Format.BINARY and abs(self.nanos) >= 1024 * NANO:
            whole, rest = divmod(self.nanos, NANO)
            if not rest:
                return _in_binary(whole)
        exponent_style = self.format is Format.EXPONENT
        return _in_decimal(self.nanos, exponent_style=exponent_style)

    def __str__(self) -> str:
        return self._text or self.canonical()

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"


def _in_binary(whole: int) -> str:
    step = 0
    while step < len(_BINARY_SUFFIX) - 1 and whole % 1024 == 0:
        whole //= 1024
        step += 1
    return f"{whole}{_BINARY_SUFFIX[step]}"


def _in_decimal(nanos: int, *, exponent_style: bool) -> str:
    number, exponent = nanos, _MIN_SCALE
    while number % 1000 == 0:
        number //= 1000
        exponent += 3
    suffix = None if exponent_style else _DECIMAL_SUFFIX.get(exponent)
    if suffix is None:
        suffix = f"e{exponent}" if exponent else ""
    return f"{number}{suffix}"


def _compact(value: int, scale: int) -> Compact | None:
    return Compact(value, scale) if _INT64_MIN <= value <= _INT64_MAX else None


def _add(a: Compact | None, b: Compact | None) -> Compact | None:
    """The sum as long as every step of Kubernetes' own addition stays in 64 bits."""
    if a is None or b is None:
        return None
    if b.value == 0:
        return a
    if a.value == 0:
        return b
    scale = min(a.scale, b.scale)
    left = a.value * 10 ** (a.scale - scale)
    right = b.value * 10 ** (b.scale - scale)
    if not all(_INT64_MIN <= side <= _INT64_MAX for side in (left, right)):
        return None
    return _compact(left + right, scale)


ZERO: Final = Quantity.of(0)


def read(raw: RawQuantity | None) -> Quantity:
    """The quantity in a JSON field: text or number; null and absent mean zero.

    Raises :class:`~dra.errors.QuantityError`.
    """
    if raw is None:
        return ZERO
    if isinstance(raw, str):
        return parse(raw.strip())
    if isinstance(raw, bool):
        raise QuantityError("true and false are no quantities")
    if isinstance(raw, float):
        if not math.isfinite(raw):
            raise QuantityError(f"{raw} is not a quantity")
        return parse(str(int(raw)) if raw.is_integer() else repr(raw))
    return parse(str(raw))


@lru_cache(maxsize=1 << 16, typed=True)
def nanos(raw: RawQuantity) -> int:
    """The value of a JSON field in nano units: ``read(raw).nanos``, remembered."""
    return read(raw).nanos


@lru_cache(maxsize=1 << 16)
def parse(text: str) -> Quantity:
    """Parse ``text`` as Kubernetes does, white space around it being an error.

    A value below one nano unit rounds up (away from zero) to one; a binary
    quantity beyond 2^63-1 becomes 2^63-1. Raises
    :class:`~dra.errors.QuantityError`, also for texts of over 1,000 characters
    and exponents over 3000, which Kubernetes would try to compute.
    """
    if len(text) > _MAX_LENGTH:
        raise QuantityError(f"a quantity of {len(text)} characters is too long")
    found = _TEXT.fullmatch(text) if text else None
    if found is None:
        raise QuantityError(
            f'"{text}" is not a quantity: a number with a suffix such as m, k, M, '
            "Mi, Gi or e3 is expected"
        )
    style, exponent = _suffix(found["suffix"], text)
    whole, part = found["whole"] or "0", found["part"] or ""
    compact = _fast(whole, part, style, exponent)
    if compact is not None:
        value, scale = compact
        if style is Format.BINARY:
            as_written = value & 7 != 0
            compact = Compact(value << exponent, scale)
        else:
            digits = whole + part
            as_written = (
                scale % 3 == 0 and digits[0] != "0" and not digits.endswith("000")
            )
        nanos = compact.value * 10 ** (compact.scale - _MIN_SCALE)
    else:
        if not _has_digits(text, found):
            raise QuantityError(f'"{text}" is not a quantity: it has no digits')
        as_written = False
        nanos = _exact(int(whole + part), len(part), style, exponent)
        if style is Format.BINARY:
            nanos = min(nanos, _INT64_MAX * NANO)
            if nanos < NANO:
                style = Format.DECIMAL
    if found["sign"] == "-":
        nanos = -nanos
        compact = compact and Compact(-compact.value, compact.scale)
    return Quantity(nanos, style, compact=compact, text=text if as_written else "")


def _has_digits(text: str, found: re.Match[str]) -> bool:
    """Kubernetes minds a number without digits only outside its fast path."""
    return any(c.isdigit() for c in text[: found.start("suffix")])


def _suffix(suffix: str, text: str) -> tuple[Format, int]:
    exponent = _DECIMAL.get(suffix)
    if exponent is not None:
        return Format.DECIMAL, exponent
    exponent = _BINARY.get(suffix)
    if exponent is not None:
        return Format.BINARY, exponent
    found = _EXPONENT.fullmatch(suffix)
    if found is None:
        raise QuantityError(f'"{text}" has the unknown suffix "{suffix}"')
    exponent = int(found[1])
    if exponent > _MAX_EXPONENT:
        raise QuantityError(f'"{text}" has too big an exponent')
    return Format.EXPONENT, exponent


def _fast(whole: str, part: str, style: Format, exponent: int) -> Compact | None:
    """The digits and their scale where Kubernetes surely keeps them in 64 bits.

    For binary quantities before multiplying by the suffix.
    """
    if style is Format.BINARY:
        room = 15 - len(whole) - exponent * 3 // 10 - 1
        return None if part or room < 0 else Compact(int(whole), 0)
    scale = exponent - len(part)
    if len(whole) + len(part) > _MAX_DIGITS or scale < _MIN_SCALE:
        return None
    return Compact(int(whole + part), scale)


def _exact(digits: int, places: int, style: Format, exponent: int) -> int:
    """Nano units of ``digits`` shifted by ``places``, rounded up."""
    if style is Format.BINARY:
        digits, exponent = digits << exponent, 0
    shift = exponent - places - _MIN_SCALE
    if shift >= 0:
        scaled: int = digits * 10**shift
        return scaled
    if -shift > _MAX_LENGTH + 2 * _MAX_DIGITS:
        return 1 if digits else 0
    divisor: int = 10**-shift
    return -(-digits // divisor)
