"""Working examples of claims for the devices that a cluster has.

Recipes make drafts out of what is published; the engine is asked to place each, and
only those that it places are shown. Names, numbers and values are the cluster's own.
"""

from __future__ import annotations

from claims.authoring.gallery.examples import Example, Proof
from claims.authoring.gallery.keeping import forget, gallery

__all__ = ["Example", "Proof", "forget", "gallery"]
