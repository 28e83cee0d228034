"""Laws of sums over step functions with gaps."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inventory.history.numbers import Numbers
from inventory.history.spans import Span, Step, Total, buckets, total

HOUR, DAY = 3_600, 86_400
START = Numbers(free=3)

moments = st.integers(0, DAY)
steps = st.lists(
    st.tuples(moments, st.integers(0, 9)), max_size=20, unique_by=lambda step: step[0]
).map(lambda found: [(at, Numbers(free=n, in_use=9 - n)) for at, n in sorted(found)])


@st.composite
def covers(draw: st.DrawFn) -> list[Span]:
    edges = sorted(draw(st.sets(moments, max_size=12)))
    return list(zip(edges[::2], edges[1::2], strict=False))


@given(steps, covers())
def test_hours_add_up_to_the_day(steps: list[Step], covers: list[Span]) -> None:
    day = total((0, DAY), START, steps, covers)
    added = Total()
    for found in buckets((0, DAY), HOUR, START, steps, covers).values():
        added = added.plus(found)
    assert added == day
    assert day.seconds == sum(b - a for a, b in covers)


@given(steps, covers())
def test_the_sum_is_that_of_every_second(steps: list[Step], covers: list[Span]) -> None:
    span = (DAY // 2, DAY // 2 + 500)
    expected, seconds = 0, 0
    start = START
    for at, numbers in steps:
        if at <= span[0]:
            start = numbers
    for second in range(*span):
        if any(a <= second < b for a, b in covers):
            now = start
            for at, numbers in steps:
                if span[0] <= at <= second:
                    now = numbers
            expected, seconds = expected + now.free, seconds + 1
    found = total(span, start, steps, covers)
    assert (found.seconds, found.sums.free) == (seconds, expected)


def test_what_nobody_saw_has_no_average() -> None:
    assert total((0, HOUR), START, [], []).average() is None
    found = total((0, HOUR), START, [(600, Numbers(free=6))], [(0, 1200)])
    assert found.average() == (4.5, 0, 0, 0, 0, 0, 0, 0)
