"""Random well-typed selectors in the part of CEL that cel-python knows.

What the two are known to see differently stays out: see ``test_peer``.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from dra import cel
from dra.objects import DeviceAttribute

ATTRIBUTES: dict[str, Any] = {"i": 1, "j": -7, "s": "ab", "t": "é", "b": True}
DEVICE = cel.DeviceInput(
    "d",
    {
        "i": DeviceAttribute(int_=1),
        "j": DeviceAttribute(int_=-7),
        "s": DeviceAttribute(string="ab"),
        "t": DeviceAttribute(string="é"),
        "b": DeviceAttribute(bool_=True),
    },
)
VARIABLE = {"driver": "d", "attributes": {"d": ATTRIBUTES}}
"""The same device for cel-python."""

_A = 'device.attributes["d"]'
_INTS = ["0", "1", "2", "-1", "7", "9223372036854775807", "-9223372036854775808"]
_UINTS = ["0u", "1u", "7u", "18446744073709551615u"]
_DOUBLES = ["0.0", "1.0", "1.5", "-2.5", "1e300", "0.1"]
_STRINGS = ["'a'", "'b'", "''", "'ab'", "'é'", "'x\\ny'", "'\U0001f600'", '"a\'b"']
_BYTES = ["b'a'", "b''", "b'\\xff'", "b'ab'"]


class Typed:
    """Makes expressions of a type, nested at most ``depth`` levels."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._names: list[str] = []

    def selector(self) -> str:
        return self._bool(self._random.randrange(1, 5))

    def _one(self, *makers: Callable[[int], str]) -> Callable[[int], str]:
        return self._random.choice(makers)

    def _pick(self, *texts: str) -> str:
        return self._random.choice(texts)

    def _binary(
        self, operand: Callable[[int], str], depth: int, *operators: str
    ) -> str:
        left, right = operand(depth - 1), operand(depth - 1)
        return f"({left} {self._pick(*operators)} {right})"

    def _conditional(self, of: Callable[[int], str], depth: int) -> str:
        condition = self._bool(depth - 1)
        return f"({condition} ? {of(depth - 1)} : {of(depth - 1)})"

    def _loop(self, macro: str, body: Callable[[int], str], depth: int) -> str:
        over = self._list(depth - 1)
        name = f"x{len(self._names)}"
        self._names.append(name)
        text = f"{over}.{macro}({name}, {body(depth - 1)})"
        self._names.pop()
        return text

    # --- types ---

    def _int(self, depth: int) -> str:
        if depth <= 0:
            return self._pick(*_INTS, f"{_A}.i", f"{_A}.j", *self._names)
        return self._one(
            lambda d: self._binary(self._int, d, "+", "-", "*", "/", "%"),
            lambda d: self._binary(self._int, d, "+", "-", "*"),
            lambda d: (
                f"size({self._one(self._text, self._list, self._map, self._bytes)(d - 1)})"
            ),
            lambda d: f"-({self._int(d - 1)})",
            lambda d: self._conditional(self._int, d),
            lambda d: f"{self._list(d - 1)}[{self._pick('0', '1', '5')}]",
            lambda d: f"{self._map(d - 1)}[{self._pick(*_STRINGS)}]",
        )(depth)

    def _uint(self, depth: int) -> str:
        if depth <= 0:
            return self._pick(*_UINTS)
        return self._binary(self._uint, depth, "+", "-", "*", "/", "%")

    def _double(self, depth: int) -> str:
        if depth <= 0:
            return self._pick(*_DOUBLES)
        # No division: it makes NaN and negative zero.
        return self._binary(self._double, depth, "+", "-")

    def _string(self, depth: int) -> str:
        if depth <= 0:
            return self._pick(*_STRINGS, "device.driver", f"{_A}.s", f"{_A}.t")
        return self._one(
            lambda d: f"string({self._small(d - 1)})",
            lambda d: self._conditional(self._string, d),
        )(depth)

    def _text(self, depth: int) -> str:
        """A string that no method is called on."""
        if depth <= 0:
            return self._string(0)
        return self._binary(self._string, depth, "+")

    def _bytes(self, depth: int) -> str:
        if depth <= 0:
            return self._pick(*_BYTES)
        return f"bytes({self._string(depth - 1)})"

    def _small(self, depth: int) -> str:
        """An int that never fails: what it is in absorbs no error."""
        if depth <= 0:
            return str(self._random.randrange(-9, 10))
        return self._binary(self._small, depth, "+", "-", "*")

    def _sum(self, depth: int) -> str:
        return f"({self._names[-1]} + {self._small(depth - 1)})"

    def _list(self, depth: int) -> str:
        if depth <= 0:
            return self._pick("[1]", "[1, 2]", "[3, 3, -1]", "[7, 1, 0, 2]")
        return self._one(
            lambda d: f"[{self._small(d - 1)}, {self._small(d - 1)}]",
            lambda d: f"({self._list(d - 1)} + {self._list(d - 1)})",
            lambda d: self._loop("map", self._sum, d),
            lambda d: self._loop("filter", self._bool, d),
        )(depth)

    def _map(self, depth: int) -> str:
        keys = self._random.sample(["'a'", "'b'", "'ab'"], 2)
        return f"{{{', '.join(f'{key}: {self._small(depth - 1)}' for key in keys)}}}"

    def _bool(self, depth: int) -> str:
        if depth <= 0:
            return self._pick("true", "false", f"{_A}.b")
        return self._one(
            self._comparison,
            self._comparison,
            lambda d: self._binary(self._bool, d, "&&", "||"),
            lambda d: self._binary(self._bool, d, "&&", "||"),
            lambda d: f"!({self._bool(d - 1)})",
            lambda d: self._conditional(self._bool, d),
            lambda d: (
                f"{self._string(d - 1)}"
                f".{self._pick('contains', 'startsWith', 'endsWith')}"
                f"({self._pick(*_STRINGS)})"
            ),
            lambda d: (
                f"{self._string(d - 1)}"
                f".matches({self._pick(repr('^a'), repr('b+$'), repr('.'))})"
            ),
            lambda d: f"({self._int(d - 1)} in {self._list(d - 1)})",
            lambda d: f"({self._string(d - 1)} in {self._map(d - 1)})",
            lambda d: self._loop(
                self._pick("all", "exists", "exists_one"), self._bool, d
            ),
            lambda _: self._pick(
                f"has({_A}.i)", f"has({_A}.no)", f"{_A}.no", f"('i' in {_A})"
            ),
            lambda d: f"has({self._map(d - 1)}.a)",
            lambda d: (
                f"({self._moment(d - 1)} {self._pick('<', '==')} {self._moment(d - 1)})"
            ),
        )(depth)

    def _comparison(self, depth: int) -> str:
        of = self._one(
            self._int, self._uint, self._double, self._text, self._bytes, self._bool
        )
        if of == self._bool:
            return self._binary(of, depth, "==", "!=")
        return self._one(
            lambda d: self._binary(of, d, "==", "!=", "<", "<=", ">", ">="),
            lambda d: self._binary(self._one(self._list, self._map), d, "==", "!="),
        )(depth)

    def _moment(self, depth: int) -> str:
        day = self._random.randrange(1, 29)
        moment = f"timestamp('2024-02-{day:02d}T0{day % 10}:00:00Z')"
        if depth <= 0:
            return moment
        return f"({moment} {self._pick('+', '-')} duration('{day}h30m'))"
