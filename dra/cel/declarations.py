"""How functions are declared: overloads with signatures and implementations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from dra.cel.types import Type
from dra.cel.values import Value

type Implementation = Callable[..., Value]


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature of a function.

    ``args`` includes the receiver of a method. ``run`` gets evaluated arguments
    that fit ``args`` at run time and returns the value or raises
    :class:`~dra.cel.errors.EvaluationError`; None means the evaluator has its
    own way (operators). ``guarded`` False leaves it to ``run`` to refuse what
    does not fit.
    """

    id: str
    args: tuple[Type, ...]
    result: Type
    method: bool
    run: Implementation | None
    params: tuple[Type, ...]
    guarded: bool = True


class Function:
    """A name with its overloads, in the order they are tried."""

    __slots__ = ("name", "overloads")

    def __init__(self, name: str) -> None:
        self.name = name
        self.overloads: list[Overload] = []


class Declarations:
    """The functions of an environment."""

    def __init__(self) -> None:
        self._functions: dict[str, Function] = {}

    def find(self, name: str) -> Function | None:
        return self._functions.get(name)

    def names(self) -> Iterable[str]:
        return self._functions.keys()

    def add(
        self,
        name: str,
        overload_id: str,
        args: Iterable[Type],
        result: Type,
        run: Implementation | None = None,
        *,
        method: bool = False,
        guarded: bool = True,
    ) -> None:
        """Declare one overload of ``name``."""
        arguments = tuple(args)
        function = self._functions.setdefault(name, Function(name))
        function.overloads.append(
            Overload(
                id=overload_id,
                args=arguments,
                result=result,
                method=method,
                run=run,
                params=tuple(sorted(_params((*arguments, result)), key=_by_name)),
                guarded=guarded,
            )
        )

    def method(
        self,
        name: str,
        overload_id: str,
        args: Iterable[Type],
        result: Type,
        run: Implementation | None = None,
        *,
        guarded: bool = True,
    ) -> None:
        """Declare one overload called as ``receiver.name(...)``."""
        self.add(name, overload_id, args, result, run, method=True, guarded=guarded)


def _params(types: Iterable[Type]) -> set[Type]:
    found: set[Type] = set()
    for t in types:
        if t.kind == "param":
            found.add(t)
        found |= _params(t.params)
    return found


def _by_name(t: Type) -> Any:
    return t.name
