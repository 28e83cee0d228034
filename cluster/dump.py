"""A cluster from files: what ``kubectl get … -o json`` (or yaml) printed.

Any mix of ``kind: List``, typed lists such as ``ResourceSliceList`` (their items
have no kind of their own), single objects and YAML with several documents.
Only the kinds of :mod:`cluster.resources` are kept, in v1 form, without
``managedFields``. A file that cannot be read at all is a
:class:`~cluster.errors.DumpError`; an item that cannot be used is left out and
reported, and the rest goes on.

Dumps get big (200 MB for 5,000 nodes). Items of JSON files are decoded one by one
from the text, so an item that is not kept never becomes objects, and the text is
gone before the next file is read.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from cluster.convert import old_layout_problem, to_v1
from cluster.errors import DumpError
from cluster.resources import BY_KIND, RESOURCES
from cluster.yaml_documents import YamlError, documents

Json = dict[str, Any]

DEFAULT_MAX_BYTES: Final = 1024**3
MAX_PROBLEMS: Final = 1000
_ALSO_READABLE: Final = {"resource.k8s.io": ("v1alpha3",)}
"""Versions that no reflector asks for but that old dumps hold."""


@dataclass(frozen=True, slots=True)
class Dump:
    """What the files hold."""

    objects: dict[str, list[Json]]
    """By kind, one entry for every kind we mirror; in v1 form, each key once."""
    problems: tuple[str, ...]
    """One sentence per item that was left out, with file and item."""
    ignored: dict[str, int]
    """How many objects of which other kinds were passed over."""
    version: str
    """Changes exactly when the content of the files does; fit as a resourceVersion."""

    def __len__(self) -> int:
        return sum(map(len, self.objects.values()))


def read_dump(paths: Sequence[Path], *, max_bytes: int = DEFAULT_MAX_BYTES) -> Dump:
    """Read ``paths`` as one cluster. Raises :class:`~cluster.errors.DumpError`.

    ``max_bytes`` bounds all files together. An object that several files hold
    counts once, the last one; the others are reported.
    """
    reader = _Reader()
    digest = hashlib.sha256()
    left = max_bytes
    for path in paths:
        data = _load(path, left, max_bytes)
        left -= len(data)
        digest.update(data)
        reader.read(path.name, data)
        del data
    return Dump(
        objects={kind: list(found.values()) for kind, found in reader.found.items()},
        problems=tuple(reader.problems),
        ignored=dict(reader.ignored),
        version=f"dump-{digest.hexdigest()[:16]}",
    )


def _load(path: Path, left: int, max_bytes: int) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(left + 1)
    except FileNotFoundError:
        raise DumpError(f"{path}: there is no such file") from None
    except OSError as error:
        reason = (error.strerror or "cannot be read").lower()
        raise DumpError(f"{path}: {reason}") from None
    if len(data) > left:
        limit = f"{max_bytes / 1024**2:,.0f} MiB"
        raise DumpError(f"{path}: too big; all files together may have {limit}")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        # What PowerShell's ">" writes.
        data = _utf8(path, data)
    return data.removeprefix(b"\xef\xbb\xbf")


def _utf8(path: Path, data: bytes) -> bytes:
    try:
        return data.decode("utf-16").encode()
    except UnicodeDecodeError:
        raise DumpError(f"{path}: not text in UTF-8 or UTF-16") from None


class _Envelope(msgspec.Struct):
    """A List; ``items`` stay text until somebody wants one."""

    kind: Any = None
    apiVersion: Any = None  # noqa: N815 (Kubernetes' own name)
    items: list[msgspec.Raw] | None = None


class _Head(msgspec.Struct):
    kind: Any = None
    apiVersion: Any = None  # noqa: N815 (Kubernetes' own name)


_decode_envelope = msgspec.json.Decoder(_Envelope).decode
_decode_head = msgspec.json.Decoder(_Head).decode
_decode = msgspec.json.Decoder().decode


@dataclass(slots=True)
class _Reader:
    found: dict[str, dict[tuple[str, str], Json]] = field(
        default_factory=lambda: {resource.kind: {} for resource in RESOURCES}
    )
    problems: list[str] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)

    def read(self, file: str, data: bytes) -> None:
        if not data.strip():
            raise DumpError(f"{file} is empty")
        if data.lstrip()[:1] == b"{" and not _is_yaml_flow(file, data):
            self._json(file, data)
        else:
            self._yaml(file, data)

    # --- JSON ---

    def _json(self, file: str, data: bytes) -> None:
        try:
            envelope = _decode_envelope(data)
            if envelope.items is None:
                self._document(file, _decode(data))
                return
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise DumpError(f"{file}: {_json_reason(data, error)}") from None
        kind, api_version = _item_type(envelope.kind, envelope.apiVersion)
        for index, raw in enumerate(envelope.items):
            where = f"{file}: items[{index}]"
            try:
                head = _decode_head(raw)
                if self._wanted(
                    where, head.kind or kind, head.apiVersion or api_version
                ):
                    self._add(
                        where, to_v1(_decode(raw), kind=kind, api_version=api_version)
                    )
            except msgspec.ValidationError:
                self._problem(f"{where}: is not an object")
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                self._problem(f"{where}: {_json_reason(bytes(raw), error)}")

    # --- YAML ---

    def _yaml(self, file: str, data: bytes) -> None:
        count = 0
        try:
            for document in documents(data):
                count += 1
                self._document(file, document)
        except YamlError as error:
            raise DumpError(f"{file}: {error}") from None
        if not count:
            raise DumpError(f"{file} is empty")

    # --- both ---

    def _document(self, file: str, document: Any) -> None:
        """One document that is already decoded: a list of some kind or an object."""
        if not isinstance(document, dict) or not isinstance(document.get("kind"), str):
            raise DumpError(f"{file}: not a Kubernetes object or List: it has no kind")
        items = document.get("items")
        if not isinstance(items, list):
            if document["kind"].endswith("List"):
                raise DumpError(f"{file}: items of {document['kind']} must be a list")
            self._one(file, document, "", "")
            return
        kind, api_version = _item_type(document["kind"], document.get("apiVersion"))
        for index, item in enumerate(items):
            self._one(f"{file}: items[{index}]", item, kind, api_version)

    def _one(self, where: str, item: Any, kind: str, api_version: str) -> None:
        if not isinstance(item, dict):
            self._problem(f"{where}: is not an object")
        elif self._wanted(
            where, item.get("kind") or kind, item.get("apiVersion") or api_version
        ):
            self._add(where, to_v1(item, kind=kind, api_version=api_version))

    def _wanted(self, where: str, kind: Any, api_version: Any) -> bool:
        if not isinstance(kind, str) or not kind:
            self._problem(f"{where}: has no kind")
            return False
        group, _, version = str(api_version or "").rpartition("/")
        resource = BY_KIND.get(kind)
        if resource is None or (resource.group != group and version):
            self.ignored[kind] += 1
            return False
        if version not in (*resource.versions, *_ALSO_READABLE.get(group, ())):
            what = f"apiVersion {api_version}" if api_version else "no apiVersion"
            self._problem(f"{where}: {kind} with {what} cannot be read")
            return False
        return True

    def _add(self, where: str, obj: Json) -> None:
        kind = obj["kind"]
        meta = obj.get("metadata")
        name = meta.get("name") if isinstance(meta, dict) else None
        if not isinstance(meta, dict) or not isinstance(name, str) or not name:
            self._problem(f"{where}: {kind} has no metadata.name")
            return
        meta.pop("managedFields", None)
        namespace = ""
        if BY_KIND[kind].namespaced:
            # As kubectl does with a manifest that names none.
            namespace = meta.setdefault("namespace", "default")
        if not isinstance(namespace, str):
            self._problem(f"{where}: {kind} {name}: metadata.namespace must be text")
            return
        full = f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"
        if (reason := old_layout_problem(obj)) is not None:
            self._problem(f"{where}: {full}: {reason}")
            return
        if (namespace, name) in self.found[kind]:
            self._problem(f"{where}: {full} is there twice; the last one counts")
        self.found[kind][namespace, name] = obj

    def _problem(self, sentence: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(sentence)
        elif len(self.problems) == MAX_PROBLEMS:
            self.problems.append(f"more than {MAX_PROBLEMS} items were left out")


def _item_type(kind: Any, api_version: Any) -> tuple[str, str]:
    """What the items of a list are when they do not say it themselves."""
    if not isinstance(kind, str) or not kind.endswith("List") or kind == "List":
        return "", ""
    return kind.removesuffix("List"), str(api_version or "")


def _is_yaml_flow(file: str, data: bytes) -> bool:
    """``{a: b}`` is YAML that looks like JSON; only the file's name can tell."""
    if not file.endswith((".yaml", ".yml")):
        return False
    try:
        msgspec.json.Decoder(msgspec.Raw).decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return True
    return False


def _json_reason(data: bytes, error: Exception) -> str:
    """Line, column and reason of a JSON error; msgspec gives the byte only."""
    if isinstance(error, RecursionError):
        return "nested too deep"
    if isinstance(error, UnicodeDecodeError):
        return "not text in UTF-8"
    text = str(error)
    if isinstance(error, msgspec.ValidationError):
        return "not a Kubernetes object or List: " + text
    reason, found, position = text.partition("(byte ")
    reason = reason.removeprefix("JSON is malformed:").strip() or "malformed JSON"
    if "truncated" in text:
        return f"the file ends in the middle (line {data.count(b'\n') + 1})"
    if not found:
        return reason
    byte = int(position.rstrip(") ") or 0)
    line = data.count(b"\n", 0, byte) + 1
    column = byte - (data.rfind(b"\n", 0, byte) + 1) + 1
    return f"line {line}, column {column}: not valid JSON: {reason}"


def iter_objects(dump: Dump) -> Iterator[Json]:
    """All objects of a dump, kind by kind in the order of ``RESOURCES``."""
    for found in dump.objects.values():
        yield from found
