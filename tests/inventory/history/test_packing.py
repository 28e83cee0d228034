"""Numbers as few bytes: what is read is what was written."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inventory.history.numbers import NOTHING, Numbers
from inventory.history.packing import (
    pack_changes,
    pack_sums,
    unpack_changes,
    unpack_sums,
)
from inventory.history.spans import Total

calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
numbers = st.builds(Numbers, *[st.integers(0, 2**40)] * 8)
few = st.sampled_from([NOTHING, Numbers(free=8), Numbers(free=7, in_use=1)])
totals = st.builds(Total, st.integers(0, 3_600), st.one_of(numbers, few))


@calm
@given(st.dictionaries(st.integers(0, 40), totals))
def test_sums_come_back_as_they_were(sums: dict[int, Total]) -> None:
    assert unpack_sums(pack_sums(sums, 3_600), 3_600) == sums


@calm
@given(
    st.one_of(numbers, few),
    st.dictionaries(st.integers(1, 86_399), st.one_of(numbers, few)),
)
def test_changes_come_back_as_they_were(
    start: Numbers, changes: dict[int, Numbers]
) -> None:
    begin = 1_700_006_400
    steps = [(begin + at, changes[at]) for at in sorted(changes)]
    assert unpack_changes(pack_changes(start, steps, begin), begin) == (start, steps)


def test_what_does_not_change_takes_a_few_bytes() -> None:
    idle = {day: Total(86_400, Numbers(free=8 * 86_400)) for day in range(32)}
    assert len(pack_sums(idle, 86_400)) == 7
    busy = {
        day: Total(86_400, Numbers(free=8 * 86_400 - day, in_use=day * 999))
        for day in range(32)
    }
    assert len(pack_sums(busy, 86_400)) < 32 * 11


def test_a_number_below_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="from 0 on"):
        pack_changes(Numbers(free=-1), (), 0)
