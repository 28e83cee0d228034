"""Results tied to what they are for: the request they name and the device they give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dra.allocation.features import Features
from dra.allocation.verify.violations import Code, Violation
from dra.allocation.verify.wants import Want, Wanted
from dra.allocation.verify.world import Absent, Published, World
from dra.names import DeviceID
from dra.objects import AllocationResult, DeviceResult

MAX_RESULTS = 32


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """One result; ``found`` is the device where the node can use it."""

    want: Want
    result: DeviceResult
    found: Published

    @property
    def id(self) -> DeviceID:
        return self.found.id

    def is_shared(self, features: Features) -> bool:
        """Whether the device is one that several requests may share."""
        return features.consumable_capacity and bool(
            self.found.device.allow_multiple_allocations
        )

    def violation(self, code: Code, words: str) -> Violation:
        """``words`` go on after "Device X, given to request Y,"."""
        return fault(self.want, self.id, code, words)


def fault(want: Want, device: DeviceID, code: Code, words: str) -> Violation:
    sentence = f"The device {device}, given to the {want}, {words}."
    return Violation(code, want.claim, want.name, str(device), sentence)


def tie(
    wanted: Wanted, allocation: AllocationResult, world: World
) -> tuple[list[Taken], list[Violation]]:
    """The results that can be tied, and what is wrong with the others."""
    taken: list[Taken] = []
    wrong: list[Violation] = []
    wants = wanted.by_name
    for result in allocation.devices.results or ():
        device = DeviceID(result.driver, result.pool, result.device)
        want = wants.get(result.request)
        if want is None:
            wrong.append(
                Violation(
                    Code.REQUEST_UNKNOWN,
                    wanted.name,
                    result.request,
                    str(device),
                    f"The device {device} is given to {result.request}, which is no "
                    f"request or alternative of claim {wanted.name}.",
                )
            )
            continue
        found = world.find(device)
        if isinstance(found, Absent):
            words = f"cannot be had: {found.reason}"
            wrong.append(fault(want, device, found.code, words))
        else:
            taken.append(Taken(want, result, found))
    return taken, wrong


def check_numbers(wanted: Wanted, allocation: AllocationResult) -> Iterator[Violation]:
    """Whether every request has its number of results, of one alternative each."""
    results = allocation.devices.results or ()
    if len(results) > MAX_RESULTS:
        yield Violation(
            Code.TOO_MANY_RESULTS,
            wanted.name,
            "",
            "",
            f"The claim {wanted.name} gets {len(results)} devices; {MAX_RESULTS} are allowed.",
        )
    for parent, wants in wanted.requests:
        used = [
            (want, number)
            for want in wants
            if (number := sum(r.request == want.name for r in results))
        ]
        if len(used) > 1:
            names = ", ".join(want.name for want, _ in used)
            yield Violation(
                Code.SEVERAL_ALTERNATIVES,
                wanted.name,
                parent,
                "",
                f"Several alternatives of request {parent} of claim {wanted.name} get "
                f"devices: {names}.",
            )
        for want, number in used:
            if not want.everything and number != want.count:
                yield want.violation(
                    Code.WRONG_COUNT,
                    f"The {want} gets {number} devices and wants {want.count}.",
                )
        if wants and not used:
            yield Violation(
                Code.WRONG_COUNT,
                wanted.name,
                parent,
                "",
                f"The request {parent} of claim {wanted.name} gets no device.",
            )


def chosen(wanted: Wanted, allocation: AllocationResult) -> list[Want] | None:
    """The alternative of each request that got devices, None where that is unclear."""
    names = {r.request for r in allocation.devices.results or ()}
    found = []
    for _, wants in wanted.requests:
        used = [want for want in wants if want.name in names]
        if len(used) != 1:
            return None
        found += used
    return found
