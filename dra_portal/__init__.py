"""The project: settings, URLs, processes and wiring."""

from __future__ import annotations

from dra_portal.celery import app as celery_app

__all__ = ["celery_app"]
