"""What is wrong in a cluster, as findings that say why it matters and what to do.

``audit`` looks at one snapshot; an ``Auditor`` is told of one after another and looks
again only at what changed. Both take values and return values.
"""

from __future__ import annotations

from dra.audits.auditor import Auditor, audit
from dra.audits.codes import MEANINGS, SEVERITIES, Code, Meaning, Severity
from dra.audits.finding import Finding, Subject

__all__ = [
    "MEANINGS",
    "SEVERITIES",
    "Auditor",
    "Code",
    "Finding",
    "Meaning",
    "Severity",
    "Subject",
    "audit",
]
