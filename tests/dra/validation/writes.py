"""Writes of whole objects, and what is wrong with them."""

from __future__ import annotations

import copy
from typing import Any

from dra.validation import Outcome, Refusal, Request, validate
from tests.dra.validation.objects import Json


def create(sent: Json, **more: Any) -> Outcome:
    return validate(Request(sent["kind"], sent, **more))


def update(old: Json, new: Json, **more: Any) -> Outcome:
    return validate(Request(new["kind"], new, update=True, old=old, **more))


def update_status(old: Json, status: Json, **more: Any) -> Outcome:
    return update(old, {**old, "status": status}, subresource="status", **more)


def faults(outcome: Outcome) -> list[tuple[str, str]]:
    """Field and reason of everything that is wrong."""
    assert outcome.accepted == (not outcome.problems)
    return [(problem.field, problem.reason) for problem in outcome.problems]


def said(outcome: Outcome) -> str:
    """The message of the only thing that is wrong."""
    (problem,) = outcome.problems
    return problem.message


def with_metadata(sent: Json, **metadata: Any) -> Json:
    return {**sent, "metadata": {**sent["metadata"], **metadata}}


def with_spec(sent: Json, **spec: Any) -> Json:
    return {**sent, "spec": {**copy.deepcopy(sent["spec"]), **spec}}


def refused(outcome: Outcome) -> Refusal:
    """What is said of a write that is no list of causes."""
    assert outcome.refusal is not None
    return outcome.refusal
