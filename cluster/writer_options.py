"""What ``clusters.yaml`` may say about the way of writing allocations.

.. code-block:: yaml

    writer: carrier                 # carrier | direct | unguarded | none
    owner: dra-portal               # on everything that we put into the cluster
    carrier:                        # only with writer: carrier
      image: registry.k8s.io/pause:3.10
      namePrefix: dra-portal-carrier-
      waitSeconds: 60               # for the scheduler to allocate
      cleanSeconds: 35              # for the controller to clean up
      acceptOtherDevices: false     # true: what the scheduler chose will do
      exactDevices: false           # true: taint rules keep it off the other devices
      resources: {cpu: 10m, memory: 16Mi}  # none by default; requests and limits alike,
                                    # where a quota wants every pod to name them, or a
                                    # LimitRange would give it more than nodes have left
      priorityClass: no-preemption  # the default one else, which may preempt others
      labels: {sidecar.istio.io/inject: "false"}  # none by default
    guard:                          # only with writer: direct
      by: auto                      # auto | rule | node-taint
      namespace: dra-portal         # of the barrier pods
      settleMilliseconds: 250       # after the guard, and after the write
      barrierSeconds: 60
      marksSeconds: 20
    scheduler:
      names: [default-scheduler]    # every scheduler that handles pods with claims
      version: 1.37.0               # kube-scheduler's, which the API does not tell
      taintRules: auto              # auto | safe | never

``unguarded`` writes with no protection against a scheduler: it double-books a device
in up to 55 % of provoked collisions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast, get_args

WriterName = Literal["carrier", "direct", "unguarded", "none"]
GuardKind = Literal["auto", "rule", "node-taint"]
RuleSafety = Literal["auto", "safe", "never"]

WRITERS: Final = get_args(WriterName)
KEYS: Final = ("writer", "owner", "carrier", "guard", "scheduler")

_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?")
_PREFIX: Final = re.compile(r"[a-z0-9][-a-z0-9]{0,29}-")
_IMAGE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,254}")
_VERSION: Final = re.compile(r"v?\d+\.\d+\.\d+([-+.][0-9A-Za-z.+-]*)?")
_RESOURCE: Final = re.compile(r"cpu|memory|ephemeral-storage")
_QUANTITY: Final = re.compile(r"[0-9]+(\.[0-9]+)?([mkMGT]|[KMGT]i)?")
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_LABEL_KEY: Final = re.compile(
    r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
)
_LABEL_VALUE: Final = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_MOST_SCHEDULERS: Final = 8


@dataclass(frozen=True, slots=True)
class CarrierOptions:
    """Of the carrier pod. Times in seconds; ``resources`` and ``labels`` are pairs of
    name and value."""

    image: str = "registry.k8s.io/pause:3.10"
    name_prefix: str = "dra-portal-carrier-"
    wait: float = 60.0
    clean: float = 35.0
    accept_other_devices: bool = False
    exact_devices: bool = False
    resources: tuple[tuple[str, str], ...] = ()
    priority_class: str = ""
    labels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class GuardOptions:
    """Of the guard around a direct write. Times in seconds; a barrier that takes longer
    than ``busy`` is passed twice."""

    by: GuardKind = "auto"
    namespace: str = "dra-portal"
    settle: float = 0.25
    barrier: float = 60.0
    marks: float = 20.0
    busy: float = 1.0


@dataclass(frozen=True, slots=True)
class SchedulerOptions:
    """What an administrator tells about the scheduler; nobody else knows it."""

    names: tuple[str, ...] = ("default-scheduler",)
    version: str = ""
    taint_rules: RuleSafety = "auto"


@dataclass(frozen=True, slots=True)
class WriterOptions:
    owner: str = "dra-portal"
    carrier: CarrierOptions = field(default_factory=CarrierOptions)
    guard: GuardOptions = field(default_factory=GuardOptions)
    scheduler: SchedulerOptions = field(default_factory=SchedulerOptions)


class OptionError(Exception):
    """``path`` is the field path below the cluster, ``reason`` what is wrong there."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}")


def read_writer(entry: Mapping[str, Any], *, dump: bool) -> WriterName:
    """The writer of one cluster's entry. Raises :class:`OptionError`."""
    if "writer" not in entry:
        return "none" if dump else "carrier"
    value = entry["writer"]
    if value not in WRITERS:
        raise OptionError("writer", f"must be one of {', '.join(WRITERS)}")
    if value != "none" and dump:
        raise OptionError("writer", "a dump cannot be written to; use none")
    return cast("WriterName", value)


def read_options(entry: Mapping[str, Any], writer: WriterName) -> WriterOptions:
    """The options beside ``writer``. Raises :class:`OptionError`."""
    for key, of in (("carrier", "carrier"), ("guard", "direct")):
        if key in entry and writer != of:
            raise OptionError(key, f"only goes with writer: {of}")
    defaults = WriterOptions()
    owner = _Part("", entry, ()).text(
        "owner",
        defaults.owner,
        _LABEL,
        "must be 1 to 40 lower-case letters, digits or -, "
        "and start and end with a letter or digit",
    )
    return WriterOptions(
        owner=owner,
        carrier=_carrier(entry),
        guard=_guard(entry),
        scheduler=_scheduler(entry),
    )


def _carrier(entry: Mapping[str, Any]) -> CarrierOptions:
    known = (
        *("image", "namePrefix", "waitSeconds", "cleanSeconds"),
        *("acceptOtherDevices", "exactDevices"),
        *("resources", "priorityClass", "labels"),
    )
    part = _part(entry, "carrier", known)
    default = CarrierOptions()
    return CarrierOptions(
        image=part.text("image", default.image, _IMAGE, "must be an image's name"),
        name_prefix=part.text(
            "namePrefix",
            default.name_prefix,
            _PREFIX,
            "must be up to 31 lower-case letters, digits or -, and end with -",
        ),
        wait=part.number("waitSeconds", default.wait, 1, 600),
        clean=part.number("cleanSeconds", default.clean, 0, 600),
        accept_other_devices=part.flag("acceptOtherDevices"),
        exact_devices=part.flag("exactDevices"),
        resources=part.pairs(
            "resources",
            _RESOURCE,
            _QUANTITY,
            "must be amounts, such as 10m or 16Mi, of cpu, memory or ephemeral-storage",
        ),
        priority_class=part.text(
            "priorityClass", "", _NAME, "must be the name of a PriorityClass"
        ),
        labels=part.pairs(
            "labels",
            _LABEL_KEY,
            _LABEL_VALUE,
            "must be labels with text values (quote true, false and numbers)",
        ),
    )


def _guard(entry: Mapping[str, Any]) -> GuardOptions:
    known = ("by", "namespace", "settleMilliseconds", "barrierSeconds", "marksSeconds")
    part = _part(entry, "guard", known)
    default = GuardOptions()
    return GuardOptions(
        by=cast("GuardKind", part.choice("by", default.by, get_args(GuardKind))),
        namespace=part.text(
            "namespace", default.namespace, _LABEL, "must be the name of a namespace"
        ),
        settle=part.number("settleMilliseconds", default.settle * 1000, 0, 60_000)
        / 1000,
        barrier=part.number("barrierSeconds", default.barrier, 1, 600),
        marks=part.number("marksSeconds", default.marks, 0, 600),
    )


def _scheduler(entry: Mapping[str, Any]) -> SchedulerOptions:
    part = _part(entry, "scheduler", ("names", "version", "taintRules"))
    default = SchedulerOptions()
    return SchedulerOptions(
        names=part.texts("names", default.names, _MOST_SCHEDULERS),
        version=part.text(
            "version", default.version, _VERSION, "must be a version like 1.37.0"
        ),
        taint_rules=cast(
            "RuleSafety",
            part.choice("taintRules", default.taint_rules, get_args(RuleSafety)),
        ),
    )


def _part(entry: Mapping[str, Any], key: str, known: tuple[str, ...]) -> _Part:
    value = entry.get(key, {})
    if not isinstance(value, dict):
        raise OptionError(key, "must be a mapping")
    for name in value:
        if name not in known:
            raise OptionError(
                f"{key}.{name}", f"unknown key; known are {', '.join(known)}"
            )
    return _Part(f"{key}.", value, known)


@dataclass(frozen=True, slots=True)
class _Part:
    at: str
    values: Mapping[str, Any]
    known: tuple[str, ...]

    def text(self, key: str, default: str, form: re.Pattern[str], rule: str) -> str:
        return self._read(
            key,
            default,
            lambda v: isinstance(v, str) and bool(form.fullmatch(v)),
            rule,
        )

    def flag(self, key: str) -> bool:
        return self._read(
            key,
            default=False,
            right=lambda v: isinstance(v, bool),
            rule="must be true or false",
        )

    def choice(self, key: str, default: str, allowed: tuple[str, ...]) -> str:
        rule = f"must be one of {', '.join(allowed)}"
        return self._read(key, default, lambda v: v in allowed, rule)

    def number(self, key: str, default: float, least: int, most: int) -> float:
        def right(value: Any) -> bool:
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            return number and least <= value <= most

        rule = f"must be a number from {least} to {most}"
        return float(self._read(key, default, right, rule))

    def texts(self, key: str, default: tuple[str, ...], most: int) -> tuple[str, ...]:
        def right(value: Any) -> bool:
            return (
                isinstance(value, list)
                and 0 < len(value) <= most
                and all(isinstance(v, str) and _LABEL.fullmatch(v) for v in value)
            )

        rule = f"must be a list of 1 to {most} names"
        return tuple(self._read(key, default, right, rule))

    def pairs(
        self, key: str, names: re.Pattern[str], values: re.Pattern[str], rule: str
    ) -> tuple[tuple[str, str], ...]:
        def right(value: Any) -> bool:
            return isinstance(value, dict) and all(
                isinstance(n, str)
                and isinstance(v, str)
                and names.fullmatch(n)
                and values.fullmatch(v)
                for n, v in value.items()
            )

        none: dict[str, str] = {}
        return tuple(sorted(self._read(key, none, right, rule).items()))

    def _read[T](
        self, key: str, default: T, right: Callable[[Any], bool], rule: str
    ) -> T:
        if key not in self.values:
            return default
        value = self.values[key]
        if not right(value):
            raise OptionError(f"{self.at}{key}", rule)
        return cast("T", value)
