from __future__ import annotations

from cluster.backoff import Backoff


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_waits_double_up_to_half_a_minute():
    backoff = Backoff(clock=Clock(), uniform=lambda low, high: high)
    waits = [backoff.next() for _ in range(8)]
    assert waits == [1.6, 3.2, 6.4, 12.8, 25.6, 30, 30, 30]


def test_waits_are_spread_over_the_upper_half():
    backoff = Backoff(clock=Clock(), uniform=lambda low, high: low)
    waits = [backoff.next() for _ in range(8)]
    assert waits == [0.8, 1.6, 3.2, 6.4, 12.8, 15, 15, 15]


def test_two_quiet_minutes_start_anew():
    clock = Clock()
    backoff = Backoff(clock=clock, uniform=lambda low, high: high)
    for _ in range(5):
        backoff.next()
    clock.now += 120
    assert backoff.next() == 30
    clock.now += 121
    assert backoff.next() == 1.6
