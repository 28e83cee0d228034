"""Kubeconfig and service account: from a :class:`ClusterConfig` to an open road.

The ``kubernetes`` package reads credentials (certificates, tokens, credential
commands, token renewal) and sets up TLS and proxies; nothing else of it is used.
It takes a second to import, so it is imported when the first cluster is
connected, not when the portal starts.

Its own messages quote whole kubeconfig entries, tokens included. So the file is
checked here first, with sentences that name the field at fault, and what the
package raises is never passed on.
"""

from __future__ import annotations

import ipaddress
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from cluster.config import ClusterConfig
from cluster.errors import Unreachable
from cluster.yaml_documents import YamlError, documents

if TYPE_CHECKING:
    import urllib3

MAX_BYTES: Final = 5_000_000
MAX_STREAMS: Final = 32
"""Connections kept per cluster: one per watched kind, and some for requests."""

_IMPORTING: Final = threading.Lock()
"""The package: its modules import each other, and threads that begin at different ones
meet halves of them."""


@dataclass(frozen=True, slots=True)
class Transport:
    """How to reach one API server. Its ``repr`` shows the address only."""

    url: str
    """Scheme, host, port and path prefix, without a final slash."""
    pool: urllib3.PoolManager = field(repr=False)
    authorization: Callable[[], str | None] = field(repr=False)
    """The ``Authorization`` header, renewed when due; not safe to call in parallel."""
    loaded_at: float = field(default_factory=time.monotonic)

    @property
    def address(self) -> str:
        """The server for messages: no user name or password of the URL."""
        parts = urlsplit(self.url)
        host = parts.hostname or self.url
        return f"{host}:{parts.port}" if parts.port else host


def load(config: ClusterConfig) -> Transport:
    """Read the credentials of ``config``. Raises :class:`Unreachable`; opens no connection."""
    if config.kubeconfig is not None:
        checked = check_kubeconfig(config.kubeconfig, config.context)
        transport = _load(
            _read_kubeconfig, config, f"kubeconfig {config.kubeconfig}", checked
        )
        if checked.command and not _has_identity(transport):
            raise Unreachable(
                f"the command {checked.command}, which kubeconfig {config.kubeconfig} "
                "names for credentials, failed; run it by hand to see why"
            )
        return transport
    if config.in_cluster:
        return _load(
            _read_service_account,
            config,
            "inCluster: true, but the service account of a pod",
            Checked(),
        )
    raise Unreachable(f"{config.name} is a dump; there is no server to connect to")


def authorization(transport: Transport) -> str | None:
    """The ``Authorization`` header now. Raises :class:`Unreachable` when it cannot be renewed."""
    kind = ""
    try:
        return transport.authorization()
    # Renewing runs commands and reads files through the package: see ``_load``.
    except Exception as error:
        kind = type(error).__name__
    raise Unreachable(
        f"the credentials for {transport.address} cannot be renewed ({kind})"
    )


def preload() -> None:
    """Import the package now, for a process that forks others which will need it."""
    with _IMPORTING:
        import kubernetes.client.rest
        import kubernetes.config  # noqa: F401


def _load(
    read: Callable[[ClusterConfig, Any], None],
    config: ClusterConfig,
    what: str,
    checked: Checked,
) -> Transport:
    preload()
    import urllib3
    from kubernetes.client import Configuration
    from kubernetes.client.rest import RESTClientObject

    kind = ""
    try:
        settings = Configuration(connection_pool_maxsize=MAX_STREAMS)
        settings.keep_alive = True
        settings.retries = False
        read(config, settings)
        if not checked.proxy and _is_loopback(settings.host):
            # A proxy of the environment is meant for other machines.
            settings.proxy = None
        pool = RESTClientObject(settings).pool_manager
    # The package raises its own error as well as KeyError, TypeError, OSError
    # and binascii.Error, all with file contents in their text.
    except Exception as error:
        kind = type(error).__name__
    if kind:
        # Raised here, not in the except block: a chained error would carry the text.
        raise Unreachable(f"{what} cannot be used ({kind})")
    if not settings.verify_ssl:
        # Whoever wrote insecure-skip-tls-verify knows; one line per request helps nobody.
        warnings.filterwarnings(
            "ignore", category=urllib3.exceptions.InsecureRequestWarning
        )

    def authorization() -> str | None:
        auth = settings.auth_settings().get("BearerToken")
        return auth["value"] if auth else None

    return Transport(settings.host.rstrip("/"), pool, authorization)


def _read_kubeconfig(config: ClusterConfig, settings: Any) -> None:
    from kubernetes.config import load_kube_config

    load: Callable[..., None] = load_kube_config
    load(
        config_file=str(config.kubeconfig),
        context=config.context or None,
        client_configuration=settings,
        persist_config=False,
    )


def _read_service_account(config: ClusterConfig, settings: Any) -> None:  # noqa: ARG001 (same shape as the other)
    from kubernetes.config import load_incluster_config

    load: Callable[..., None] = load_incluster_config
    load(client_configuration=settings)


def _has_identity(transport: Transport) -> bool:
    return bool(
        transport.authorization() or transport.pool.connection_pool_kw.get("cert_file")
    )


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


# --- the checks ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Checked:
    """What the context of a kubeconfig says that its reader does not tell."""

    command: str = ""
    """The command that gives the credentials."""
    proxy: bool = False
    """Whether it names a proxy itself."""


def check_kubeconfig(path: Path, context: str = "") -> Checked:
    """Find the usual mistakes before the ``kubernetes`` package does.

    Raises :class:`Unreachable` with a sentence that names file and field.
    """
    what = f"kubeconfig {path}"
    document = _read(path, what)
    if not isinstance(document, dict) or not isinstance(document.get("clusters"), list):
        raise Unreachable(f"{what} is not a kubeconfig: it has no list of clusters")
    name = context or document.get("current-context")
    if not name:
        raise Unreachable(f"{what} has no current-context; name one with context:")
    entry = _named(document, "contexts", "context", name, what)
    cluster = _named(document, "clusters", "cluster", entry.get("cluster"), what)
    server = cluster.get("server")
    if not isinstance(server, str) or not server.startswith(("http://", "https://")):
        raise Unreachable(
            f'{what}: server of cluster "{entry.get("cluster")}" must be an http(s) address'
        )
    user: dict[str, Any] = {}
    if entry.get("user"):
        user = _named(document, "users", "user", entry["user"], what)
    for owner, key in (
        (cluster, "certificate-authority"),
        (user, "client-certificate"),
        (user, "client-key"),
        (user, "tokenFile"),
    ):
        file = owner.get(key)
        named = isinstance(file, str) and file and f"{key}-data" not in owner
        if named and not (path.parent / str(file)).is_file():
            raise Unreachable(f"{what}: {key} names {file}, which does not exist")
    command = user.get("exec")
    return Checked(
        command=str(command.get("command") or "") if isinstance(command, dict) else "",
        proxy=bool(cluster.get("proxy-url")),
    )


def _read(path: Path, what: str) -> Any:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise Unreachable(f"{what} does not exist") from None
    except OSError as error:
        reason = (error.strerror or "input/output error").lower()
        raise Unreachable(f"{what} cannot be read: {reason}") from None
    if len(data) > MAX_BYTES:
        raise Unreachable(f"{what} is bigger than {MAX_BYTES:,} bytes")
    try:
        found = list(documents(data))
    except YamlError as error:
        raise Unreachable(f"{what} is not valid YAML: {error}") from None
    return found[0] if len(found) == 1 else None


def _named(document: Any, plural: str, singular: str, name: Any, what: str) -> Any:
    entries = [e for e in document.get(plural) or [] if isinstance(e, dict)]
    for entry in entries:
        if entry.get("name") == name:
            value = entry.get(singular)
            return value if isinstance(value, dict) else {}
    known = ", ".join(str(entry.get("name")) for entry in entries[:20]) or "none"
    raise Unreachable(f'{what} has no {singular} "{name}"; it has: {known}')
