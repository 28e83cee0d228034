"""Which rows a scenario can have and which fields each has: the form as data.

A field's name is its place in the entry's JSON, dots between levels. Together they
cover everything that :mod:`dra.whatif` reads; a test compares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

type Look = Literal["text", "number", "names", "yaml", "cel", "choice", "check"]
type Section = Literal["edits", "workload"]

TAGS: Final[dict[Section, str]] = {"edits": "edit", "workload": "place"}
"""The field of an entry that says what it is."""


@dataclass(frozen=True, slots=True)
class FieldKind:
    """``names`` are separated by blanks or commas. ``known``: a list of what there is."""

    name: str
    label: str
    look: Look = "text"
    help: str = ""
    known: str = ""
    choices: tuple[str, ...] = ()
    wide: bool = False


@dataclass(frozen=True, slots=True)
class RowKind:
    section: Section
    kind: str
    title: str
    icon: str
    fields: tuple[FieldKind, ...]
    about: str = ""


EFFECTS: Final = ("NoSchedule", "NoExecute", "None")

_NODES: Final = (
    FieldKind("nodes", "Nodes", "names", "Several: with blanks between.", "nodes"),
    FieldKind("labels", "or by labels", help="As in kubectl -l: zone=a,gpu!=no."),
)
_DEVICES: Final = (
    FieldKind("devices.node", "On node", known="nodes"),
    FieldKind("devices.driver", "Driver", known="drivers"),
    FieldKind("devices.pool", "Pool"),
    FieldKind("devices.device", "Device"),
    FieldKind(
        "devices.cel",
        "Devices for which",
        "cel",
        "An expression as in a selector. All that is given has to hold.",
        wide=True,
    ),
)
_TAINT: Final = (
    FieldKind("taint.key", "Taint key"),
    FieldKind("taint.value", "Value"),
    FieldKind("taint.effect", "Effect", "choice", choices=EFFECTS),
)
_ON: Final = (
    FieldKind("on.nodes", "Only on nodes", "names", known="nodes"),
    FieldKind("on.labels", "or on nodes with labels"),
)
_COPIES: Final = FieldKind("copies", "Copies", "number")


def _edit(
    kind: str, title: str, icon: str, *fields: FieldKind, about: str = ""
) -> RowKind:
    return RowKind("edits", kind, title, icon, fields, about)


def _work(
    kind: str, title: str, icon: str, *fields: FieldKind, about: str = ""
) -> RowKind:
    return RowKind("workload", kind, title, icon, fields, about)


KINDS: Final = (
    _edit(
        "drain",
        "Drain nodes",
        "node",
        *_NODES,
        about="No new pods, and those that are there go, except pods of a DaemonSet.",
    ),
    _edit("cordon", "Cordon nodes", "node", *_NODES, about="No new pods."),
    _edit("uncordon", "Uncordon nodes", "node", *_NODES, about="New pods again."),
    _edit(
        "removeNodes",
        "Remove nodes",
        "node",
        *_NODES,
        about="The nodes, their pods and the slices of their devices are gone.",
    ),
    _edit(
        "addNodes",
        "Add nodes",
        "node",
        FieldKind("like", "Like node", known="nodes"),
        FieldKind("count", "How many", "number"),
        FieldKind("prefix", "Names begin with", help="Empty: the node's name."),
        about="With copies of that node's own slices, all devices free.",
    ),
    _edit("taint", "Taint devices", "flag", *_DEVICES, *_TAINT),
    _edit(
        "untaint",
        "Take taints away",
        "flag",
        *_DEVICES,
        FieldKind("key", "Taint key", help="Empty: every taint."),
        FieldKind("effect", "Effect", "choice", choices=("", *EFFECTS)),
        about="Taints that a rule puts on devices stay: remove the rule for that.",
    ),
    _edit(
        "taintByRule",
        "Add a taint rule",
        "flag",
        FieldKind("name", "Name of the rule"),
        *_TAINT,
        FieldKind("driver", "Driver", known="drivers"),
        FieldKind("pool", "Pool"),
        FieldKind("device", "Device"),
        about="Without driver, pool and device it means every device.",
    ),
    _edit(
        "changeDevices",
        "Change devices",
        "device",
        *_DEVICES,
        FieldKind(
            "attributes",
            "Set attributes",
            "yaml",
            "As in slices: model: {string: A2}.",
            wide=True,
        ),
        FieldKind("capacity", "Set capacity", "yaml", "memory: 96Gi", wide=True),
        FieldKind("drop", "Drop attributes and capacities", "names"),
        FieldKind("remove", "The devices themselves go", "check"),
        about="Devices as another release of their driver would publish them.",
    ),
    _edit(
        "release",
        "Release claims",
        "claim",
        FieldKind("claims", "Claims", "names", "namespace/name", "claims"),
        FieldKind("namespace", "or all of namespace", known="namespaces"),
        about="Claims give back what they hold.",
    ),
    _edit(
        "setClass",
        "Change or add a class",
        "class",
        FieldKind("name", "Class", known="classes"),
        FieldKind("spec", "Its spec", "yaml", wide=True),
    ),
    _edit(
        "removeClass",
        "Remove a class",
        "class",
        FieldKind("name", "Class", known="classes"),
    ),
    _edit(
        "features",
        "Switch version or gates",
        "cluster",
        FieldKind("version", "Kubernetes version", help="Such as 1.37."),
        FieldKind("gates", "Gates", "yaml", "DRAPartitionableDevices: true", wide=True),
    ),
    _edit(
        "add",
        "Add objects",
        "plus",
        FieldKind("objects", "Objects", "yaml", "A list of manifests.", wide=True),
        about="Claims, templates, pods, slices …; one with a name that exists replaces it.",
    ),
    _edit(
        "remove",
        "Remove objects",
        "x",
        FieldKind(
            "objects",
            "Objects",
            "yaml",
            "- {kind: Pod, namespace: team-a, name: train-0}",
            wide=True,
        ),
    ),
    _work(
        "claim",
        "Claims",
        "claim",
        FieldKind("existing", "Like claim", help="namespace/name", known="claims"),
        _COPIES,
        *_ON,
        FieldKind("claim", "or with this manifest", "yaml", wide=True),
        about="A waiting claim with one copy is placed itself; else new ones like it.",
    ),
    _work(
        "template",
        "Claims from a template",
        "template",
        FieldKind("existing", "Template", help="namespace/name", known="templates"),
        _COPIES,
        *_ON,
        FieldKind("template", "or with this manifest", "yaml", wide=True),
    ),
    _work(
        "pod",
        "Pods",
        "pod",
        FieldKind("name", "Name"),
        FieldKind("namespace", "Namespace", known="namespaces"),
        _COPIES,
        *_ON,
        FieldKind(
            "claims",
            "Claims of each",
            "yaml",
            "- templateName: train-8   (or claimName, claim, template)",
            wide=True,
        ),
        FieldKind(
            "resources",
            "Extended resources of each",
            "yaml",
            "nvidia.com/gpu: 2   As in a container's limits.",
            wide=True,
        ),
        about="All that one pod asks for goes to one node.",
    ),
    _work(
        "group",
        "Groups of pods",
        "pod",
        FieldKind("name", "Name"),
        _COPIES,
        FieldKind("pods", "Pods", "yaml", "A list of pods as above.", wide=True),
        about="All pods of a group are placed, or none.",
    ),
    _work(
        "waiting",
        "The pods that wait",
        "clock",
        FieldKind("namespace", "Only of namespace", known="namespaces"),
    ),
)
BY_NAME: Final = {(kind.section, kind.kind): kind for kind in KINDS}
OF_SECTION: Final[dict[Section, tuple[RowKind, ...]]] = {
    section: tuple(kind for kind in KINDS if kind.section == section)
    for section in TAGS
}
EXAMPLES: Final[dict[tuple[Section, str], dict[str, object]]] = {
    ("edits", "taint"): {"taint": {"effect": "NoExecute"}},
    ("edits", "taintByRule"): {"taint": {"effect": "NoExecute"}},
    ("edits", "addNodes"): {"count": 1},
    ("workload", "claim"): {"copies": 1},
    ("workload", "template"): {"copies": 1},
    ("workload", "pod"): {"copies": 1},
    ("workload", "group"): {"copies": 1},
}
"""What a new row holds at first."""
