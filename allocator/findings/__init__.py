"""What is wrong in each cluster, kept current and shown where it matters.

The judgement is that of ``dra.audits``. :mod:`~allocator.findings.passing` looks again
after the mirror has changed and stores what is new and what has ended;
:mod:`~allocator.findings.queries` reads it for pages, REST and metrics.
"""

from __future__ import annotations
