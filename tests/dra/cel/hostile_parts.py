"""What hostile texts are put together from."""

from __future__ import annotations

type Named = tuple[str, str]

SIZE = 10_240
"""Bytes that a selector may have; most texts here fill them."""
ATTRIBUTES = 'device.attributes["d"]'


def fill(unit: str, between: str = "", *, size: int = SIZE, around: str = "") -> str:
    """``unit`` as often as fits, joined; ``around`` is part of the size."""
    room = size - len(around.encode()) + len(between.encode())
    times = max(room // len((unit + between).encode()), 1)
    return between.join([unit] * times)


def wrap(opening: str, inside: str, closing: str, times: int) -> str:
    return opening * times + inside + closing * times


def bound(name: str, start: str, step: str, levels: int) -> str:
    """A text with one ``%s`` for what is done with a large value."""
    opening = f"cel.bind({name}, {start}, " + f"cel.bind({name}, {step}, " * levels
    return f"{opening}%s{')' * (levels + 1)}"


def close(text: str, inside: str) -> str:
    depth = text.count("(") - text.count(")")
    return f"{text}{inside}{')' * depth}"
