"""The words and rules of Dynamic Resource Allocation in plain Python.

Everything here takes values and returns values: no Django, no I/O outside
``__main__``, no logging, no clock of its own. It runs on a YAML file, in a
worker and in a page alike. Nothing here imports anything else of ours.
"""

from __future__ import annotations
