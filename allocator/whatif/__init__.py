"""What if: scenarios on the portal's mirror, kept, run, compared; and headroom.

The answers are those of :mod:`dra.whatif`. Here is what a portal adds: texts in and
out, rows, time limits, workers, pages and REST. Nothing is ever written to a cluster.
"""

from __future__ import annotations
