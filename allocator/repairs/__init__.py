"""Repairing a device that is booked twice, step by step.

Nothing is rolled back blindly: quarantine first, then one of the claims is released, then
the schedulers are made to count the device again, then the quarantine is lifted. Each
step is asked for by a person, recorded, and judged by what the mirror shows now.
"""

from __future__ import annotations
