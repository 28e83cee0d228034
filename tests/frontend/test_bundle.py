"""The committed files of the editor are those of its sources; seen without npm."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FRONTEND = ROOT / "frontend"
STATIC = ROOT / "static/js"
BUILT = ["cel-editor.js", "cel-highlight.js", "yaml-editor.js", "charts.js"]
OF_CHARTS = {"uplot"}
ONLY_FOR_YAML = {
    "@codemirror/lang-yaml",
    "@codemirror/merge",
    "@codemirror/search",
}


def fingerprint() -> str:
    """As frontend/build.js takes it."""
    sources = sorted(path.name for path in (FRONTEND / "src").iterdir())
    found = hashlib.sha256()
    for name in ["build.js", "package-lock.json", *(f"src/{name}" for name in sources)]:
        found.update(name.encode() + b"\0" + (FRONTEND / name).read_bytes() + b"\0")
    return found.hexdigest()


@pytest.mark.parametrize("name", BUILT)
def test_the_committed_bundle_is_built_from_these_sources(name: str) -> None:
    banner = (STATIC / name).read_text("utf-8").partition("*/")[0]
    assert fingerprint() in banner, "run make frontend"


@pytest.mark.parametrize("name", BUILT)
def test_the_bundle_keeps_to_the_content_security_policy(name: str) -> None:
    text = (STATIC / name).read_text("utf-8")
    assert not re.search(
        r"\beval\(|new Function\b|\bimport\(|https?://(?!www\.w3)", text
    )


def test_every_package_has_an_exact_version_and_its_hash() -> None:
    package = json.loads((FRONTEND / "package.json").read_text("utf-8"))
    lock = json.loads((FRONTEND / "package-lock.json").read_text("utf-8"))["packages"]
    wanted = package["dependencies"] | package["devDependencies"]
    assert all(re.fullmatch(r"[0-9]+(\.[0-9]+){2}", one) for one in wanted.values())
    root = lock.pop("")
    assert root["dependencies"] | root["devDependencies"] == wanted
    assert all(one["integrity"].startswith("sha512-") for one in lock.values())


@pytest.mark.parametrize("name", ["cel-editor", "yaml-editor", "charts"])
def test_the_licences_of_what_is_bundled_come_with_it(name: str) -> None:
    banner = (STATIC / f"{name}.js").read_text("utf-8").partition("*/")[0]
    assert f"Licenses: {name}.licenses.txt" in banner
    notices = (STATIC / f"{name}.licenses.txt").read_text("utf-8")
    lock = json.loads((FRONTEND / "package-lock.json").read_text("utf-8"))["packages"]
    named = dict(re.findall(r"^(@?[\w/-]+) (\d\S+) \(MIT\)$", notices, re.MULTILINE))
    package = json.loads((FRONTEND / "package.json").read_text("utf-8"))
    if name == "charts":
        assert set(named) == OF_CHARTS
    else:
        missing = set(package["dependencies"]) - set(named) - OF_CHARTS
        assert not missing or (name == "cel-editor" and missing <= ONLY_FOR_YAML)
    for found, version in named.items():
        assert lock[f"node_modules/{found}"]["version"] == version
    assert notices.count("Permission is hereby granted") == len(named)
    assert notices.count("Copyright") >= len(named)
