"""What an expression may cost at most, in the API server's units.

The numbers decide whether the API server accepts a selector (at most
:data:`LIMIT`), so they equal the reference's, oddities included.
"""

from __future__ import annotations

from dra.cel.cost.estimator import estimate, is_priced
from dra.cel.cost.ranges import LIMIT, MAXIMUM, Range

__all__ = ["LIMIT", "MAXIMUM", "Range", "estimate", "is_priced"]
