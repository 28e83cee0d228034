"""What is asked for and what is held: claims, templates, pods and pod groups."""

from __future__ import annotations
