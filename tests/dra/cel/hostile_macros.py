"""Texts whose macros, or whose types, grow large."""

from __future__ import annotations

from collections.abc import Iterator

from tests.dra.cel.hostile_parts import (
    ATTRIBUTES,
    SIZE,
    Named,
    close,
    fill,
    wrap,
)

_LOOPS = ["map", "filter", "all", "exists", "exists_one"]


def macros() -> Iterator[Named]:
    for size in (2, 10, 100):
        numbers = ", ".join(map(str, range(size)))
        for loop in _LOOPS:
            for depth in (2, 4, 8, 16, 32):
                text = f"[{numbers}].{loop}(x{{}}, "
                opening = "".join(text.format(level) for level in range(depth))
                if len(opening) < 10_000:
                    yield (
                        f"{loop} of {size}, {depth} deep",
                        f"{opening}true{')' * depth}",
                    )
    for step in ("x + x", "[x, x]", "x.replace('', x)", "[x, x].flatten()", "{x: x}"):
        for start in ("'xx'", "[1]", "1", "{1: 1}", "b'xx'", "[[]]", "device"):
            for levels in (20, 60, 120, 230):
                text = f"cel.bind(x, {start}, " + f"cel.bind(x, {step}, " * levels
                yield f"doubling {step} of {start}, {levels}", close(text, "x != x")
            many = "".join(f".map(x, {step})" for _ in range(20))
            yield f"doubling {step} of {start} by map", f"[{start}]{many} == []"
    for levels in (8, 12, 16, 20, 40):
        chain = "optional.of(1)" + ".optMap(x, x)" * levels
        yield f"{levels} optMap", f"{chain}.hasValue()"
        chain = "optional.of(1)" + ".optFlatMap(x, optional.of(x))" * levels
        yield f"{levels} optFlatMap", f"{chain}.hasValue()"
        yield f"{levels} sortBy", "[1]" + ".sortBy(x, x)" * levels + " == []"
        yield f"{levels} map", "[1]" + ".map(x, x)" * levels + " == []"
        yield f"{levels} filter", "[1]" + ".filter(x, x > 0)" * levels + " == []"
    for levels in (16, 40, 200):
        yield (
            f"binds side by side, {levels}",
            " && ".join(["cel.bind(x, true, x)"] * levels),
        )
    long = fill("x", " + ", size=4000)
    yield "long body", f"cel.bind(x, 1, {long}) == 1"
    yield "long bodies", f"[1].map(x, {long}) == [1].map(x, {long})"
    yield "long optMap", f"optional.of(1).optMap(x, {long}).hasValue()"
    yield "long target of optMap", f"optional.of({long[:240]}).optMap(x, x).hasValue()"
    yield "macros in a chain", fill("[1].all(x, x > 0)", " && ")
    yield "macros, bad variable", fill("[1].all(1, true)", " && ")
    yield "macros, wrong count", fill("[1].all(x)", " && ")
    yield "has of nothing", fill("has(x)", " && ")
    yield "has in a chain", fill(f"has({ATTRIBUTES}.x)", " && ")
    yield "two variables", fill("[1].all(i, v, v > i)", " && ")
    yield "accumulator named", "[1].map(@result, 1)"
    yield "old accumulator named", "[1].map(__result__, 1) == [1]"


def types() -> Iterator[Named]:
    for step in ("{x: x}", "{1: x, 2: x}", "[x]", "[[x]]", "{'a': [x, x]}", "type(x)"):
        for levels in (5, 10, 15, 20, 40, 100):
            for start in ("1", "[]", "{}", "dyn(1)", "null"):
                text = f"cel.bind(x, {start}, " + f"cel.bind(x, {step}, " * levels
                if len(text) > 10_000:
                    continue
                yield f"{step} of {start}, {levels}", close(text, "x == x")
                yield f"{step} of {start}, {levels}, bad", close(text, "x + x")
                yield f"{step} of {start}, {levels}, unequal", close(text, "x == 1")
                yield (
                    f"{step} of {start}, {levels}, optional",
                    close(text, "optional.of(x).hasValue()"),
                )
    for depth in (3, 6, 9):
        text = "1"
        for _ in range(depth):
            text = f"{{{text}: {text}}}"
        yield f"map types, {depth}", f"{text} == {text}"[:SIZE]
    for count in (10, 100, 1000):
        lists = ",".join(["[]"] * count)
        yield f"{count} open lists", f"[{lists}] == [[1], {lists}]"
        yield f"{count} open lists of lists", f"[[{lists}]] == [[[1]], [{lists}]]"
        yield f"{count} open conditionals", "true ? [] : " * min(count, 240) + "[1]"
        sums = " + ".join(["[]"] * min(count, 240))
        yield f"{count} open sums", f"{sums} + [1] == []"
        yield f"{count} open equalities", " && ".join(["[] == []"] * count)
    nested = wrap("[", "", "]", 120)
    yield "deep types", f"[{nested}, {nested[1:-1]}, {nested}] == []"
    yield "deep types joined", f"{nested} + {nested} == {nested}"
