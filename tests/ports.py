"""Ports of 127.0.0.1 for servers that tests start, each for one server alone."""

from __future__ import annotations

import socket
from typing import Final

_KEPT: Final[list[socket.socket]] = []


def free_port() -> int:
    """A port that nobody else gets while this process lives.

    It stays bound here without being listened at: whoever asks for any port gets another
    one, and no connection begins at it. A server that names it and sets SO_REUSEADDR, as
    they all do, may listen there all the same, and again after its end.
    """
    kept = socket.socket()
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    kept.bind(("127.0.0.1", 0))
    _KEPT.append(kept)
    port: int = kept.getsockname()[1]
    return port
