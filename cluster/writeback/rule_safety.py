"""Whether DeviceTaintRules may be used in a cluster.

kube-scheduler 1.36.0 to 1.36.2 ignores new rules, and any change of a ResourceSlice
kills it while one exists. That the API serves rules says nothing about the scheduler,
whose version the API does not tell: it is unknown unless an administrator names it.
"""

from __future__ import annotations

import re
from typing import Final

from cluster.writer_options import SchedulerOptions

_GOOD_SINCE: Final = (1, 37)
_BROKEN: Final = ("1.36.0", "1.36.1", "1.36.2")


def why_no_rules(told: SchedulerOptions, *, served: bool) -> str:
    """A sentence that says why no rule may be made; empty when rules are safe."""
    if not served:
        return "The API server does not serve DeviceTaintRules."
    if told.taint_rules == "never":
        return (
            "The clusters file forbids DeviceTaintRules (scheduler.taintRules: never)."
        )
    if told.taint_rules == "safe":
        return ""
    if not told.version:
        return (
            "The scheduler's version is not known, and 1.36.0 to 1.36.2 are killed by "
            "DeviceTaintRules. Name it in the clusters file (scheduler.version)."
        )
    found = re.match(r"(\d+)\.(\d+)", _number(told))
    if found and (int(found[1]), int(found[2])) >= _GOOD_SINCE:
        return ""
    if _is_broken(told):
        return f"kube-scheduler {told.version} is killed by DeviceTaintRules."
    return (
        f"It is not known whether kube-scheduler {told.version} bears DeviceTaintRules. "
        "If you know that it does, say so in the clusters file (scheduler.taintRules: "
        "safe)."
    )


def overridden(told: SchedulerOptions) -> str:
    """What is risked by an administrator's word that rules are safe; empty: nothing is.

    The word is obeyed, as nobody here knows better; whoever looks has to know of it.
    """
    if told.taint_rules != "safe" or (told.version and not _is_broken(told)):
        return ""
    why = (
        f"kube-scheduler {told.version} is killed by one DeviceTaintRule and one changed "
        "ResourceSlice. Remove that line, or update the scheduler to 1.37"
        if told.version
        else "it does not say which version the scheduler has, and 1.36.0 to 1.36.2 are "
        "killed by one DeviceTaintRule and one changed ResourceSlice. Name the version "
        "too (scheduler.version)"
    )
    return (
        "DeviceTaintRules are made in this cluster because the clusters file says so "
        f"(scheduler.taintRules: safe), though {why}."
    )


def _number(told: SchedulerOptions) -> str:
    return told.version.removeprefix("v")


def _is_broken(told: SchedulerOptions) -> bool:
    return re.split(r"[-+]", _number(told))[0] in _BROKEN
