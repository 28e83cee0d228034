"""``&&``, ``||`` and the looping macros: evaluation that absorbs errors or stops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from dra.cel.calls import insert
from dra.cel.errors import EvaluationError
from dra.cel.operators import no_such_overload, type_name
from dra.cel.plan import Frame, Pay, Step
from dra.cel.values import Value, WrittenMap, key_value

type Slots = tuple[int, int | None]
_END: Final = object()


def all_of(terms: list[Step]) -> Step:
    """``a && b && …``: false decides; else the first error, else true."""
    return _logical(terms, decisive=False)


def any_of(terms: list[Step]) -> Step:
    """``a || b || …``: true decides; else the first error, else false."""
    return _logical(terms, decisive=True)


def _logical(terms: list[Step], *, decisive: bool) -> Step:
    def run(frame: Frame) -> Value:
        failed: EvaluationError | None = None
        for term in terms:
            try:
                value = term(frame)
            except EvaluationError as error:
                failed = failed or error
                continue
            if value is decisive:
                return decisive
            if type(value) is not bool:
                failed = failed or no_such_overload()
        if failed is not None:
            raise failed
        return not decisive

    return run


def _turns(frame: Frame, over: Step, slots: Slots) -> Iterator[None]:
    """Set the iteration variables, once per element or entry."""
    found = over(frame)
    first, second = slots
    if type(found) is list:
        if second is None:
            for item in found:
                frame[first] = item
                yield
        else:
            for index, item in enumerate(found):
                frame[first] = index
                frame[second] = item
                yield
        return
    if not isinstance(found, dict):
        if second is None:
            raise EvaluationError(f"got '{type_name(found)}', expected iterable type")
        raise EvaluationError(
            f"unsupported comprehension range type: {type_name(found)}"
        )
    for key, item in found.items():
        frame[first] = key_value(key)
        if second is not None:
            frame[second] = item
        yield


def loop(
    macro: str,
    over: Step,
    slots: Slots,
    predicate: Step | None,
    value: Step | None,
    look: Pay | None,
) -> Step:
    """The step of a looping macro. ``look`` pays where one ends before its last element."""
    if macro in ("all", "exists"):
        assert predicate is not None
        return _quantifier(over, slots, predicate, look, decisive=macro == "exists")
    if macro == "exists_one":
        assert predicate is not None
        return _exists_one(over, slots, predicate)
    assert value is not None
    return _COLLECTORS[macro](over, slots, predicate, value)


def _quantifier(
    over: Step, slots: Slots, predicate: Step, look: Pay | None, *, decisive: bool
) -> Step:
    def run(frame: Frame) -> Value:
        failed: EvaluationError | None = None
        turns = _turns(frame, over, slots)
        for _ in turns:
            try:
                value = predicate(frame)
            except EvaluationError as error:
                failed = failed or error
                continue
            if value is decisive:
                if look is not None and next(turns, _END) is not _END:
                    look(frame)
                return decisive
            if type(value) is not bool:
                failed = failed or no_such_overload()
        if failed is not None:
            raise failed
        return not decisive

    return run


def _holds(predicate: Step, frame: Frame) -> bool:
    value = predicate(frame)
    if type(value) is not bool:
        raise no_such_overload()
    return value


def _exists_one(over: Step, slots: Slots, predicate: Step) -> Step:
    def run(frame: Frame) -> Value:
        # No generator around the predicate: loops nest, and each would cost stack.
        found = 0
        for _ in _turns(frame, over, slots):
            found += _holds(predicate, frame)
        return found == 1

    return run


def _to_list(over: Step, slots: Slots, predicate: Step | None, value: Step) -> Step:
    def run(frame: Frame) -> Value:
        return [
            value(frame)
            for _ in _turns(frame, over, slots)
            if predicate is None or _holds(predicate, frame)
        ]

    return run


def _to_map(over: Step, slots: Slots, predicate: Step | None, value: Step) -> Step:
    def run(frame: Frame) -> Value:
        found = WrittenMap()
        for _ in _turns(frame, over, slots):
            if predicate is None or _holds(predicate, frame):
                key = frame[slots[0]]
                insert(found, key, value(frame), once=True)
        return found

    return run


def _to_entries(over: Step, slots: Slots, predicate: Step | None, value: Step) -> Step:
    def run(frame: Frame) -> Value:
        found = WrittenMap()
        for _ in _turns(frame, over, slots):
            if predicate is None or _holds(predicate, frame):
                entries = value(frame)
                if not isinstance(entries, dict):
                    raise no_such_overload("cel.@mapInsert", found, entries)
                for key, item in entries.items():
                    insert(found, key_value(key), item, once=True)
        return found

    return run


_COLLECTORS: Final[dict[str, Callable[[Step, Slots, Step | None, Step], Step]]] = {
    "map": _to_list,
    "filter": _to_list,
    "transformList": _to_list,
    "transformMap": _to_map,
    "transformMapEntry": _to_entries,
}
