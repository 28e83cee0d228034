"""A stand-in for a Kubernetes API server: in memory, over real HTTP.

It answers the subset of the API that this project talks to, as kube-apiserver
1.36 answers it (``docs/parity.md`` lists what is left out). The demo and the
tests run against it; it is no place to keep data.
"""

from __future__ import annotations
