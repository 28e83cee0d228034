"""What a node takes of us each time it runs, in units of :mod:`dra.cel.budget`.

What grows with the size of the arguments is not here: functions pay for that
themselves. Measured, rounded up.
"""

from __future__ import annotations

from typing import Final

from dra.cel.ast import Call, Node

TURN: Final = 10
"""A turn of a loop, whatever is in it."""
_CALL: Final = 10
_OPERATOR: Final = 3
_FUNCTIONS: Final = {
    **dict.fromkeys(["_?_:_", "!_", "or", "orValue"], 4),
    **dict.fromkeys(["_&&_", "_||_"], 1),
    **dict.fromkeys(["semver", "isSemver", "quantity", "isQuantity"], 150),
    **dict.fromkeys(["ip", "isIP", "cidr", "isCIDR", "ip.isCanonical"], 200),
    **dict.fromkeys(["containsIP", "containsCIDR", "duration", "validate"], 200),
    **dict.fromkeys(["url", "isURL", "getQuery", "timestamp", "format"], 200),
    **dict.fromkeys(["getFullYear", "getMonth", "getDate", "getHours"], 100),
    **dict.fromkeys(["getDayOfMonth", "getDayOfWeek", "getDayOfYear"], 100),
    **dict.fromkeys(["getMinutes", "getSeconds", "getMilliseconds"], 100),
}


def weight(node: Node) -> int:
    """Units for ``node`` itself, without its parts."""
    if not isinstance(node, Call):
        return 1
    operator = node.function.startswith(("_", "@"))
    return _FUNCTIONS.get(node.function, _OPERATOR if operator else _CALL)
