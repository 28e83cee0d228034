"""What the cluster offers: nodes, pools, slices, devices, classes, taint rules, watch state."""

from __future__ import annotations
