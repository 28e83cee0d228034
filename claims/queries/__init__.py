"""Reads of claims, templates, pods and pod groups for pages and the API."""

from __future__ import annotations
