from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cluster.backoff import Backoff


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_waits_double_up_to_ten_seconds():
    backoff = Backoff(clock=Clock(), uniform=lambda low, high: high)
    waits = [backoff.next() for _ in range(5)]
    assert waits == [1.6, 3.2, 6.4, 10, 10]


def test_waits_are_spread_over_the_upper_half():
    backoff = Backoff(clock=Clock(), uniform=lambda low, high: low)
    waits = [backoff.next() for _ in range(5)]
    assert waits == [0.8, 1.6, 3.2, 5, 5]


def test_two_quiet_minutes_start_anew():
    clock = Clock()
    backoff = Backoff(clock=clock, uniform=lambda low, high: high)
    for _ in range(5):
        backoff.next()
    clock.now += 120
    assert backoff.next() == 10
    clock.now += 121
    assert backoff.next() == 1.6


def test_what_worked_makes_the_next_failure_a_first_one():
    backoff = Backoff(clock=Clock(), uniform=lambda low, high: high)
    for _ in range(5):
        backoff.next()
    backoff.worked()
    assert [backoff.next(), backoff.next()] == [1.6, 3.2]


happenings = st.lists(
    st.one_of(st.just("worked"), st.integers(0, 300), st.just(0)), max_size=40
)


@given(happenings, st.randoms(use_true_random=False))
def test_whatever_happens_a_wait_is_within_its_step(happened, random):
    """A step is 0.8 s doubled for each failure in a row, ten seconds at most."""
    clock = Clock()
    backoff = Backoff(clock=clock, uniform=random.uniform)
    in_a_row = 0
    for what in happened:
        if what == "worked":
            backoff.worked()
            in_a_row = 0
            continue
        clock.now += what
        in_a_row = 1 if what > 120 else in_a_row + 1
        step = min(0.8 * 2**in_a_row, 10)
        assert max(0.8, step / 2) <= backoff.next() <= step
