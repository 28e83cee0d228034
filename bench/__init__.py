"""``make bench``: measure the portal on clusters of two sizes and print one table.

Every figure is the median of several runs in this process or in a child of its own;
the comparison stands beside it in the same run, so that ratios hold on a noisy machine.
"""

from __future__ import annotations
