"""Connection errors as sentences: what happened, and what to look at."""

from __future__ import annotations

import ssl
from typing import Final

from urllib3 import exceptions

_BEFORE_SENDING: Final = (
    exceptions.ConnectTimeoutError,  # covers NewConnectionError and NameResolutionError
    exceptions.LocationValueError,
    exceptions.ProxyError,
    exceptions.EmptyPoolError,
    exceptions.ClosedPoolError,
)


def may_have_been_sent(error: Exception) -> bool:
    """False when the request certainly did not reach the server."""
    if isinstance(error, exceptions.SSLError):
        return not isinstance(_inner(error), ssl.SSLCertVerificationError)
    return not isinstance(error, _BEFORE_SENDING)


def explain(error: Exception, address: str) -> str:
    """One sentence for a person; holds the address and never a header or body."""
    if isinstance(error, exceptions.ProxyError):
        return f"the proxy on the way to {address} cannot be reached or refuses"
    if isinstance(error, exceptions.SSLError):
        return _explain_tls(_inner(error), address)
    if isinstance(error, exceptions.NameResolutionError):
        return f"the name of {address} cannot be resolved; check the server's address and DNS"
    if isinstance(error, exceptions.NewConnectionError):
        return _explain_refusal(_inner(error), address)
    if isinstance(error, exceptions.ConnectTimeoutError):
        return (
            f"{address} does not answer; check the address, the network and firewalls"
        )
    if isinstance(error, exceptions.ReadTimeoutError):
        return f"{address} was reached but did not answer in time"
    if isinstance(error, exceptions.LocationValueError):
        return f"{address} is not an address that can be connected to"
    return f"the connection to {address} broke"


def _explain_refusal(inner: BaseException | None, address: str) -> str:
    if isinstance(inner, ConnectionRefusedError):
        return f"{address} refuses connections; is the API server running there?"
    reason = (inner.strerror or "").lower() if isinstance(inner, OSError) else ""
    return f"no connection to {address}" + (f": {reason}" if reason else "")


def _explain_tls(inner: BaseException | None, address: str) -> str:
    if isinstance(inner, ssl.SSLCertVerificationError):
        return (
            f"the certificate of {address} is not trusted: {inner.verify_message}; "
            "check certificate-authority in the kubeconfig"
        )
    text = str(inner).upper()
    if "WRONG_VERSION_NUMBER" in text or "RECORD_LAYER_FAILURE" in text:
        return f"{address} does not speak TLS; is its address http:// rather than https://?"
    if "ALERT" in text:
        return f"{address} refuses our client certificate or TLS version"
    return f"TLS with {address} failed; check the certificates in the kubeconfig"


def _inner(error: BaseException) -> BaseException | None:
    """The innermost system or TLS error behind ``error``."""
    found: BaseException | None = None
    current: BaseException | None = error
    for _ in range(8):
        if current is None:
            break
        if isinstance(current, OSError):
            found = current
        nested = next((a for a in current.args if isinstance(a, BaseException)), None)
        current = current.__cause__ or nested or current.__context__
    return found
