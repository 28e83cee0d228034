"""What changes something: drafts, and objects of a cluster."""

from __future__ import annotations
