"""Pages of what a cluster offers, and what pages of all clusters share."""

from __future__ import annotations
