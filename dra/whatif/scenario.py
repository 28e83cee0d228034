"""A scenario: edits of a cluster, then workload to place in it; read strictly.

>>> read_scenario({"edits": [{"edit": "drain", "nodes": ["n1"]}]}).edits[0].nodes
['n1']
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from dra.reading import where
from dra.whatif.edits import Edit
from dra.whatif.errors import ScenarioError
from dra.whatif.parts import (
    MOST_EDITS,
    MOST_ITEMS,
    Copies,
    Json,
    Name,
    Names,
    Part,
    Reference,
    Text,
)

type Policy = Literal["firstFit", "spread", "pack"]

POLICIES: Final[dict[str, str]] = {
    "firstFit": (
        "Each pod goes to the first node by name on which its claims fit, whatever "
        "alternative they get there."
    ),
    "spread": (
        "Each pod goes to a node on which its claims get the best alternatives; among "
        "those to the one with the smallest part of its devices taken, then by name."
    ),
    "pack": (
        "Each pod goes to a node on which its claims get the best alternatives; among "
        "those to the one with the largest part of its devices taken, then by name."
    ),
}
"""The rule by which nodes are chosen, for people."""


class Target(Part, frozen=True):
    """The nodes that work may go to; none named and no labels: every node."""

    nodes: Names = []
    labels: Text = ""


class ClaimWork(Part, frozen=True, tag_field="place", tag="claim"):
    """Claims on their own: a spec of yours, or an existing claim ``namespace/name``.

    An existing claim that waits is placed itself; with ``copies``, or when it is
    allocated, new claims with its spec are.
    """

    claim: Json | None = None
    existing: Reference | None = None
    copies: Copies = 1
    on: Target = Target()


class TemplateWork(Part, frozen=True, tag_field="place", tag="template"):
    """Claims made from a template of yours, or an existing one."""

    template: Json | None = None
    existing: Reference | None = None
    copies: Copies = 1
    on: Target = Target()


class PodClaim(Part, frozen=True):
    """One claim of a pod; exactly one field is set.

    ``claim`` and ``template`` give every copy of the pod a claim of its own,
    ``template_name`` too; ``claim_name`` is an existing claim that all copies share.
    """

    claim: Json | None = None
    template: Json | None = None
    claim_name: Name | None = None
    template_name: Name | None = None


class PodWork(Part, frozen=True, tag_field="place", tag="pod"):
    """Pods whose claims go to one node together.

    ``resources`` are extended resources that each asks, as in the limits of one
    container: the scheduler makes a claim for those that a class stands for.
    """

    name: Name
    claims: Annotated[list[PodClaim], Meta(max_length=32)] = []
    resources: dict[Name, str | int] = {}
    namespace: Name = "default"
    copies: Copies = 1
    on: Target = Target()


class GroupWork(Part, frozen=True, tag_field="place", tag="group"):
    """Pods that are placed together or not at all, one after another."""

    name: Name
    pods: Annotated[list[PodWork], Meta(min_length=1, max_length=MOST_ITEMS)]
    copies: Copies = 1


class Waiting(Part, frozen=True, tag_field="place", tag="waiting"):
    """The cluster's own pods that wait for claims, those of the highest priority first,
    then the oldest; each by itself, those of a gang together."""

    namespace: Text = ""


type Work = ClaimWork | TemplateWork | PodWork | GroupWork | Waiting


class Scenario(Part, frozen=True):
    """What is changed, then what is placed, and how nodes are chosen."""

    name: Text = ""
    edits: Annotated[list[Edit], Meta(max_length=MOST_EDITS)] = []
    workload: Annotated[list[Work], Meta(max_length=MOST_ITEMS)] = []
    policy: Policy = "firstFit"


def read_scenario(raw: object) -> Scenario:
    """The scenario in ``raw``, decoded JSON or YAML.

    Raises :class:`ScenarioError` with the field for anything else, unknown fields
    included.
    """
    try:
        scenario = msgspec.convert(raw, Scenario)
    except msgspec.ValidationError as error:
        raise ScenarioError(*where(error)) from error
    except (UnicodeEncodeError, RecursionError) as error:
        raise ScenarioError("", "cannot be read: it is no plain JSON") from error
    return scenario


def write_scenario(scenario: Scenario) -> Json:
    """The scenario as JSON, defaults left out."""
    return msgspec.to_builtins(scenario)  # type: ignore[no-any-return]


def scenario_hash(scenario: Scenario) -> str:
    """64 hexadecimal digits; equal for equal scenarios, however they were written."""
    text = msgspec.json.encode(scenario, order="deterministic")
    return hashlib.sha256(text).hexdigest()
