"""What ``python -m dra`` does with files, for people and for CI."""

from __future__ import annotations
