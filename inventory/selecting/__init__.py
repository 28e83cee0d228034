"""The one door for an expression that a user typed: bounded, and never an exception.

Pages, REST and the device list ask here. Length and cost are those that the API
server accepts; the time is ``settings.CEL_SECONDS``. Whatever the text, there is an
answer; what is wrong with it is part of the answer.
"""

from __future__ import annotations

from inventory.selecting.answers import Answer, answer
from inventory.selecting.asking import (
    Compiled,
    Deadline,
    Matches,
    compiled,
    features_of,
    matches,
)
from inventory.selecting.reaching import NoSuchNode, Reached, reached
from inventory.selecting.samples import DeviceAnswer
from inventory.selecting.scopes import NoSuchScope, Scope, node_names, scope_mask
from inventory.selecting.tracing import DeviceTrace, NoSuchDevice, device_trace

__all__ = [
    "Answer",
    "Compiled",
    "Deadline",
    "DeviceAnswer",
    "DeviceTrace",
    "Matches",
    "NoSuchDevice",
    "NoSuchNode",
    "NoSuchScope",
    "Reached",
    "Scope",
    "answer",
    "compiled",
    "device_trace",
    "features_of",
    "matches",
    "node_names",
    "reached",
    "scope_mask",
]
