"""Which clusters there are: ``clusters.yaml``.

.. code-block:: yaml

    clusters:
    - name: demo
      kubeconfig: demo.kubeconfig   # relative to this file
      context: admin                # optional; default: its current-context
      writer: carrier               # carrier | direct | unguarded | none
      impersonate: true             # objects are written as the signed-in user
      featureGates: {DRADerivedAttributes: true}  # those that are not as by default
    - name: prod
      inCluster: true               # the service account of the pod we run in
    - name: customer
      dump: [nodes.json, dra.yaml]  # files of `kubectl get … -o json`; read only

The file names credentials, it does not hold them. Whether the named files exist
is found out when connecting, so that one missing kubeconfig does not keep the
other clusters from being shown. What goes with ``writer``: see
:mod:`cluster.writer_options`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from cluster.errors import ConfigError
from cluster.writer_options import (
    KEYS as WRITER_KEYS,
)
from cluster.writer_options import (
    OptionError,
    WriterName,
    WriterOptions,
    read_options,
    read_writer,
)
from cluster.yaml_documents import YamlError, documents
from dra.validation.gates import GATE_NAMES

Origin = Literal["kubeconfig", "in-cluster", "dump"]

MAX_BYTES: Final = 1_000_000
MAX_CLUSTERS: Final = 1000
_NAME = re.compile(r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")
_KEYS: Final = (
    "name",
    "kubeconfig",
    "context",
    "inCluster",
    "dump",
    "impersonate",
    "featureGates",
    *WRITER_KEYS,
)


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """One cluster: exactly one of ``kubeconfig``, ``in_cluster`` and ``dump`` is set."""

    name: str
    kubeconfig: Path | None = None
    context: str = ""
    in_cluster: bool = False
    dump: tuple[Path, ...] = ()
    writer: WriterName = "carrier"
    options: WriterOptions = field(default_factory=WriterOptions)
    impersonate: bool = False
    """What people create, change and delete in the portal is written in their name."""
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    """Gates that are set otherwise than the version has them; its API does not tell."""

    @property
    def source(self) -> Origin:
        if self.dump:
            return "dump"
        return "in-cluster" if self.in_cluster else "kubeconfig"

    @property
    def origin(self) -> str:
        """Where it comes from, for people: file names, never a credential."""
        if self.dump:
            return ", ".join(path.name for path in self.dump)
        if self.in_cluster:
            return "service account of this pod"
        context = f" (context {self.context})" if self.context else ""
        return f"{self.kubeconfig}{context}"

    @property
    def read_only(self) -> bool:
        return self.writer == "none"


def load_clusters(path: Path) -> list[ClusterConfig]:
    """The clusters of one file, in its order. Raises :class:`ConfigError`."""
    document = _document(path)
    if not isinstance(document, dict):
        raise ConfigError(path.name, "", "must be a mapping with the key clusters")
    for key in document:
        if key != "clusters":
            raise ConfigError(path.name, key, "unknown key; only clusters is known")
    entries = document.get("clusters")
    if not isinstance(entries, list):
        raise ConfigError(path.name, "clusters", "must be a list of clusters")
    if len(entries) > MAX_CLUSTERS:
        raise ConfigError(path.name, "clusters", f"at most {MAX_CLUSTERS} clusters")
    found: dict[str, int] = {}
    configs = []
    for index, entry in enumerate(entries):
        config = _Entry(path, f"clusters[{index}]", entry).read()
        if config.name in found:
            raise ConfigError(
                path.name,
                f"clusters[{index}].name",
                f"{config.name} is also the name of clusters[{found[config.name]}]",
            )
        found[config.name] = index
        configs.append(config)
    return configs


_NAME_RULE = (
    "must be 1 to 63 lower-case letters, digits or -, "
    "and start and end with a letter or digit"
)


def _document(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise ConfigError(str(path), "", "there is no such file") from None
    except OSError as error:
        reason = (error.strerror or "cannot be read").lower()
        raise ConfigError(str(path), "", reason) from None
    if len(data) > MAX_BYTES:
        raise ConfigError(path.name, "", f"bigger than {MAX_BYTES:,} bytes")
    try:
        found = list(documents(data))
    except YamlError as error:
        raise ConfigError(path.name, "", f"not valid YAML: {error}") from None
    if len(found) != 1:
        reason = "is empty" if not found else "must hold one YAML document"
        raise ConfigError(path.name, "", reason)
    return found[0]


@dataclass(frozen=True, slots=True)
class _Entry:
    file: Path
    at: str
    value: Any

    def read(self) -> ClusterConfig:
        if not isinstance(self.value, dict):
            raise ConfigError(self.file.name, self.at, "must be a mapping")
        for key in self.value:
            if key not in _KEYS:
                raise self._error(key, f"unknown key; known are {', '.join(_KEYS)}")
        name = self._text("name")
        if not _NAME.match(name):
            raise self._error("name", _NAME_RULE)
        self._exactly_one_source()
        writer, options = self._writer()
        return ClusterConfig(
            name=name,
            kubeconfig=self._kubeconfig(),
            context=self._context(),
            in_cluster="inCluster" in self.value,
            dump=self._dump(),
            writer=writer,
            impersonate=self._impersonate(),
            feature_gates=self._feature_gates(),
            options=options,
        )

    def _error(self, key: str, reason: str) -> ConfigError:
        return ConfigError(
            self.file.name, f"{self.at}.{key}" if key else self.at, reason
        )

    def _text(self, key: str) -> str:
        value = self.value.get(key)
        if not isinstance(value, str) or not value:
            problem = "must be text" if key in self.value else "is missing"
            raise self._error(key, problem)
        return value

    def _exactly_one_source(self) -> None:
        sources = [k for k in ("kubeconfig", "inCluster", "dump") if k in self.value]
        if not sources:
            raise self._error("", "needs one of kubeconfig, inCluster: true or dump")
        if len(sources) > 1:
            raise self._error(
                sources[1], f"only one of {' and '.join(sources)} can be given"
            )
        if "inCluster" in self.value and self.value["inCluster"] is not True:
            raise self._error("inCluster", "can only be true; leave it out otherwise")

    def _feature_gates(self) -> dict[str, bool]:
        given = self.value.get("featureGates", {})
        if not isinstance(given, dict):
            raise self._error(
                "featureGates", "must be a mapping of names to true or false"
            )
        for name, on in given.items():
            if name not in GATE_NAMES:
                known = ", ".join(sorted(GATE_NAMES))
                raise self._error(
                    f"featureGates.{name}", f"is no gate that is known here: {known}"
                )
            if not isinstance(on, bool):
                raise self._error(f"featureGates.{name}", "must be true or false")
        return dict(given)

    def _kubeconfig(self) -> Path | None:
        if "kubeconfig" not in self.value:
            return None
        return self._relative(self._text("kubeconfig"))

    def _context(self) -> str:
        if "context" not in self.value:
            return ""
        if "kubeconfig" not in self.value:
            raise self._error("context", "only goes with kubeconfig")
        return self._text("context")

    def _dump(self) -> tuple[Path, ...]:
        if "dump" not in self.value:
            return ()
        value = self.value["dump"]
        names = [value] if isinstance(value, str) else value
        if not isinstance(names, list) or not names:
            raise self._error("dump", "must be a list of files")
        for index, name in enumerate(names):
            if not isinstance(name, str) or not name:
                raise self._error(f"dump[{index}]", "must be a file name")
        return tuple(self._relative(name) for name in names)

    def _impersonate(self) -> bool:
        value = self.value.get("impersonate", False)
        if not isinstance(value, bool):
            raise self._error("impersonate", "must be true or false")
        if value and "dump" in self.value:
            raise self._error("impersonate", "a dump cannot be written to")
        return value

    def _writer(self) -> tuple[WriterName, WriterOptions]:
        try:
            writer = read_writer(self.value, dump="dump" in self.value)
            return writer, read_options(self.value, writer)
        except OptionError as error:
            raise self._error(error.path, error.reason) from None

    def _relative(self, name: str) -> Path:
        return (self.file.parent / Path(name).expanduser()).absolute()
