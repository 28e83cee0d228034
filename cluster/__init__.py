"""Kubernetes I/O: client, reflector, write-back and the stand-in API server.

The only package that imports ``kubernetes``. Knows no Django: what a reflector
reads goes to a :class:`~cluster.store.Store`, what a writer writes comes in as
values from ``dra``.
"""

from __future__ import annotations
