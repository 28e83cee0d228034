"""Faults over HTTP, for a stand-in in another process. Off unless asked for."""

from __future__ import annotations

from typing import Final

import msgspec

from cluster.standin.answers import StatusError, bad_request, not_allowed
from cluster.standin.faults import STATUSES, Faults
from cluster.standin.messages import Answer, Request, json_answer, refusal_answer

CONTROL_PATH: Final = "/standin/faults"


class Order(msgspec.Struct, forbid_unknown_fields=True):
    """The JSON body of POST /standin/faults; absent members change nothing."""

    clear: bool = False
    latency: float | None = None
    status: int | None = None
    drop: bool = False
    after_write: bool = False
    """Let the next writes happen before ``status`` or ``drop`` hides their answer."""
    times: int = 1
    cut: str = ""
    """``clean`` or ``broken``: end all watches."""
    expire: bool = False


class Control:
    """The endpoint ``/standin/faults``."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    def handle(self, request: Request) -> Answer:
        try:
            if request.method != "POST":
                raise not_allowed()
            self._apply(_read(request.body))
        except StatusError as error:
            return refusal_answer(error)
        return json_answer(200, {"latency": self._faults.latency})

    def _apply(self, order: Order) -> None:
        faults = self._faults
        if order.clear:
            faults.clear()
        if order.latency is not None:
            faults.latency = order.latency
        if order.status is not None and order.after_write:
            faults.answer_after_write(order.status, times=order.times)
        elif order.status is not None:
            faults.answer(order.status, times=order.times)
        if order.drop and order.after_write:
            faults.drop_after_write(times=order.times)
        elif order.drop:
            faults.drop(times=order.times)
        if order.cut:
            faults.cut_streams(clean=order.cut == "clean")
        if order.expire:
            faults.expire_history()


def _read(body: bytes) -> Order:
    try:
        order = msgspec.json.decode(body, type=Order)
    except msgspec.DecodeError as error:
        raise bad_request(str(error)) from error
    _check(order)
    return order


def _check(order: Order) -> None:
    problems: list[str] = []
    if order.latency is not None and not 0 <= order.latency <= 60:
        problems.append("latency: seconds between 0 and 60")
    if order.status is not None and order.status not in STATUSES:
        problems.append(f"status: one of {', '.join(map(str, STATUSES))}")
    if order.cut not in ("", "clean", "broken"):
        problems.append("cut: clean or broken")
    if not 1 <= order.times <= 1000:
        problems.append("times: between 1 and 1000")
    if problems:
        raise bad_request("; ".join(problems))
