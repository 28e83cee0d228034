"""What an explanation says in words; the only place for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from dra.allocation import reasons
from dra.allocation.explaining.explanation import Explanation
from dra.allocation.explaining.surveying import Kin
from dra.allocation.outcome import DoesNotFit, Fits, GaveUp, Outcome
from dra.allocation.quirks import SENTENCES, Quirk
from dra.allocation.request import Plan
from dra.errors import DRAError


def with_sentence(found: Explanation, outcome: Outcome) -> Explanation:
    """The explanation with its first sentence, made from its own data."""
    return replace(found, sentence=_first(found, outcome))


def _first(found: Explanation, outcome: Outcome) -> str:
    if isinstance(outcome, Fits):
        return _fits(found, outcome)
    if isinstance(outcome, GaveUp):
        return (
            f"{outcome.reason} It may fit or not: ask about fewer nodes or with simpler "
            "constraints."
        )
    assert isinstance(outcome, DoesNotFit)
    prefix = {
        "full": "It does not fit now, but would if no claim held anything.",
        "hopeless": "It cannot fit, not even with every device free.",
    }.get(found.verdict, "It does not fit now.")
    return f"{prefix} {outcome.reason}"


def _fits(found: Explanation, outcome: Fits) -> str:
    devices = [
        result.device
        for allocation in outcome.allocations
        for result in allocation.devices.results or ()
    ]
    where = "1 node" if found.fitting == 1 else f"{found.fitting:,} nodes"
    given = f" with {', '.join(devices[:4])}" if devices else ""
    more = f" and {len(devices) - 4} more" if len(devices) > 4 else ""
    return f"Fits now on {where}; first: {outcome.node_name}{given}{more}."


def refused(error: DRAError) -> str:
    text = str(error)
    return f"It cannot be allocated: {text[:1].upper()}{text[1:]}."


_SOME_NODE: Final = "(node)"


def of_node(plan: Plan, kin: Kin, *, fits: bool) -> str:
    """Why nodes that are alike have the answer that they have; for :func:`about`."""
    if kin.error:
        return f"No answer: {kin.error}."
    if fits:
        return "It fits."
    return reasons.of_nodes(plan, {_SOME_NODE: kin.counts})


def about(sentence: str, names: Sequence[str]) -> str:
    """The sentence of :func:`of_node` about one node by its name, or about several."""
    if len(names) == 1:
        return sentence.replace(_SOME_NODE, names[0])
    return sentence.replace(f"Node {_SOME_NODE}", "Such a node").replace(
        f"node {_SOME_NODE}", "such a node"
    )


def difference(quirks: Sequence[Quirk], *, scheduler_fits: bool) -> str:
    """Where the 1.36 scheduler and the documentation part, and why."""
    if scheduler_fits:
        text = "The 1.36 scheduler will allocate it, although as documented it does not fit."
    else:
        text = "As documented it fits, but the 1.36 scheduler will not find it."
    if not quirks:
        return f"{text} Several of its known faults together are the reason."
    return f"{text} {' '.join(SENTENCES[quirk] for quirk in quirks)}"
