"""What there is to choose from while a claim is written, from the devices of a snapshot.

Answers are about all devices, in use or not, unless they say otherwise. They are
bounded, and kept as long as what they were worked out from. Knows no request and no
table of the database.
"""

from __future__ import annotations

from claims.authoring.choices.asks import Ask, Wanted, wanted
from claims.authoring.choices.attributes import (
    AttributeChoice,
    Coverage,
    attribute_choices,
)
from claims.authoring.choices.capacities import (
    CapacityChoice,
    Offer,
    capacity_choices,
)
from claims.authoring.choices.classes import ClassChoice, class_choices
from claims.authoring.choices.namespaces import NamespaceChoice, namespace_choices
from claims.authoring.choices.policies import Rounded, policy_words, rounded
from claims.authoring.choices.snippets import Snippet, selector_snippets
from claims.authoring.choices.taints import TaintChoice, taint_choices
from claims.authoring.choices.values import ValueCount, Values, values_of

__all__ = [
    "Ask",
    "AttributeChoice",
    "CapacityChoice",
    "ClassChoice",
    "Coverage",
    "NamespaceChoice",
    "Offer",
    "Rounded",
    "Snippet",
    "TaintChoice",
    "ValueCount",
    "Values",
    "Wanted",
    "attribute_choices",
    "capacity_choices",
    "class_choices",
    "namespace_choices",
    "policy_words",
    "rounded",
    "selector_snippets",
    "taint_choices",
    "values_of",
    "wanted",
]
