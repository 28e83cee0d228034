"""What a result says in words; the only place for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from dra.whatif.result import CountChange, ItemResult, Loss, PoolChange
from dra.whatif.words import NAMES, count, its, listed, lower, names, upper

type HowFar = Literal["whole", "stopped", "so far"]
"""Of a result: everything, what was found before the end, or what is found by now."""


def of_loss(loss: Loss) -> str:
    """Why a claim loses its devices and what becomes of it."""
    text = f"Claim {loss.namespace}/{loss.claim} loses {_held(loss)}: {_cause(loss)}"
    if loss.outcome == "fits":
        again = set(loss.new_devices) & set(loss.devices)
        if loss.reason == "evicted" and again:
            return f"{text}. It comes back to the same device and is evicted again."
        return f"{text}. It fits on node {loss.new_node}."
    if loss.outcome == "waits":
        return f"{text}. It has to wait. {loss.why}".rstrip()
    if loss.outcome == "stays":
        return (
            f"{text}. It stays allocated because it is reserved for {loss.detail}: remove "
            "that consumer, or the claim, by hand."
        )
    if loss.outcome == "released":
        return f"{text}. Nothing else uses it."
    return f"{text}. It was not tried elsewhere yet."


def _held(loss: Loss) -> str:
    devices = list(loss.devices)
    if not devices:
        return "its allocation, which has no device"
    return names(devices, "device")


def _cause(loss: Loss) -> str:
    later = f" after {count(loss.after, 'second')}" if loss.after else ""
    match loss.reason:
        case "drained":
            return f"node {loss.node} is drained"
        case "node removed":
            return f"node {loss.node} is removed"
        case "evicted":
            return f"taint {loss.detail} evicts its pods{later}"
        case "vanished":
            return "no slice publishes them any more"
        case "pod removed":
            return "the last pod that uses it is removed"


def of_result(
    *,
    items: Sequence[ItemResult],
    losses: Sequence[Loss],
    pools: Sequence[PoolChange],
    homeless: int,
    classes: Sequence[CountChange],
    how_far: HowFar,
) -> str:
    """The result in one sentence."""
    begin = {
        "whole": "",
        "stopped": "The run was stopped; until then",
        "so far": "So far",
    }
    parts = [begin[how_far]] if begin[how_far] else []
    clauses = [
        *_of_items(items),
        *_of_losses(losses, homeless),
        *_of_pools(pools),
        *_of_classes(classes),
    ]
    if not clauses:
        clauses = ["no claim loses its devices and no pool breaks"]
    text = "; ".join(clauses)
    return upper(" ".join([*parts, text])) + "."


def _of_items(items: Sequence[ItemResult]) -> Iterator[str]:
    copies = sum(item.copies for item in items)
    if not copies:
        return
    placed = sum(item.placed for item in items)
    first = next((i for i in items if i.verdict not in ("fits", "not tried")), None)
    if placed == copies:
        yield "it fits" if copies == 1 else f"all {copies:,} copies fit"
    elif copies == 1:
        yield "it does not fit"
    else:
        yield f"{placed:,} of {copies:,} copies fit"
    if first is not None and first.reason:
        yield f"what stops the next: {lower(first.reason.rstrip('.'))}"


_OUTCOMES: Final = (
    ("fits", "fits elsewhere", "fit elsewhere"),
    ("waits", "has to wait", "have to wait"),
    ("stays", "stays allocated to what is gone", "stay allocated to what is gone"),
    ("released", "is not needed any more", "are not needed any more"),
    ("not tried", "was not tried elsewhere", "were not tried elsewhere"),
)


def _of_losses(losses: Sequence[Loss], homeless: int) -> Iterator[str]:
    if losses:
        outcomes = Counter[str](loss.outcome for loss in losses)
        verb = "loses" if len(losses) == 1 else "lose"
        told = [
            f"{outcomes[o]:,} {one if outcomes[o] == 1 else many}"
            for o, one, many in _OUTCOMES
            if outcomes[o]
        ]
        yield (
            f"{count(len(losses), 'claim')} {verb} {its(len(losses))} devices: "
            f"{listed(told)}"
        )
    if homeless:
        yield f"{count(homeless, 'pod')} that had to move found no node"


def _of_pools(pools: Sequence[PoolChange]) -> Iterator[str]:
    broken = [p for p in pools if p.after not in ("complete", "absent")]
    if broken:
        verb = "becomes" if len(broken) == 1 else "become"
        yield f"{count(len(broken), 'pool')} {verb} unusable ({broken[0].after})"
    mended = [p for p in pools if p.after == "complete" and p.before != "absent"]
    if mended:
        verb = "becomes" if len(mended) == 1 else "become"
        yield f"{count(len(mended), 'pool')} {verb} complete"


def _of_classes(classes: Sequence[CountChange]) -> Iterator[str]:
    for one in classes[:NAMES]:
        if one.after is None:
            yield f"class {one.name} is gone"
            continue
        now = count(one.after.devices, "device")
        was = one.before.devices if one.before else 0
        if one.after.errors > (one.before.errors if one.before else 0):
            fails = count(one.after.errors, "device")
            yield f"class {one.name} selects {now} and its selector fails on {fails}"
        elif one.before is None:
            yield f"class {one.name} selects {now}"
        else:
            yield f"class {one.name} selects {now} instead of {was:,}"
    if len(classes) > NAMES:
        more = len(classes) - NAMES
        yield f"{more:,} more class{'es select' if more > 1 else ' selects'} others"
