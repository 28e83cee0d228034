"""What README and docs point to is there: files, modules, names, links, commands."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from cluster.resources import RESOURCES

ROOT = Path(__file__).parents[2]
DOCUMENTS = (
    "README.md",
    "frontend/README.md",
    *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))),
)
ROOMS = "allocator|claims|cluster|dra|dra_portal|inventory|web"
IN_CODE = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"[\w./-]+\.(py|yaml|yml|js|md|toml|html)")
FOLDER = re.compile(r"[a-z_]+(/[a-z_]+)+/?|[a-z_]+/")
MODULE = re.compile(rf"(?:{ROOMS})(?:\.\w+)+")
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
OF_USERS = {"clusters.yaml", "claims.yaml", "claim.yaml", "pod.yaml"}
NOT_SERVED_EVERYWHERE = {"devicetaintrules", "podgroups"}
NO_PATHS = {"resourceclaims/binding", "namespace/name", "dra_portal/", "web/"}


@cache
def kept() -> frozenset[str]:
    """Every file and folder of the project, as ``a/b/c``."""
    skip = {".git", ".venv", "node_modules", "__pycache__", "var", "staticfiles"}
    found: set[str] = set()
    for base, folders, files in ROOT.walk():
        folders[:] = [name for name in folders if name not in skip]
        here = base.relative_to(ROOT)
        found |= {(here / name).as_posix() for name in (*folders, *files)}
    return frozenset(found)


def text_of(document: str) -> str:
    return (ROOT / document).read_text("utf-8")


def in_code(document: str) -> list[str]:
    return [found.partition("::")[0] for found in IN_CODE.findall(text_of(document))]


def is_kept(path: str) -> bool:
    """``path`` may leave out the folders before it and ``.py``, as prose does."""
    tails = (path.rstrip("/"), f"{path}.py")
    return any(f"/{one}".endswith(f"/{tail}") for one in kept() for tail in tails)


def defines(dotted: str) -> bool:
    """Whether ``a.b.c`` is a module or package, or a name in one."""
    path = dotted.replace(".", "/")
    if path in kept() or f"{path}.py" in kept():
        return True
    owner, _, name = path.rpartition("/")
    homes = [one for one in (f"{owner}.py", f"{owner}/__init__.py") if one in kept()]
    return any(re.search(rf"\b{name}\b", text_of(home)) for home in homes)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_files_and_folders_that_are_named_exist(document: str) -> None:
    named = {
        one for one in in_code(document) if FILE.fullmatch(one) or FOLDER.fullmatch(one)
    }
    assert {one for one in named - OF_USERS - NO_PATHS if not is_kept(one)} == set()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_modules_and_names_in_them_exist(document: str) -> None:
    named = {one.partition("(")[0] for one in in_code(document)}
    modules = {
        one for one in named if MODULE.fullmatch(one) and not FILE.fullmatch(one)
    }
    assert {one for one in modules if not defines(one)} == set()


def anchors(document: Path) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.+)$", document.read_text("utf-8"), re.MULTILINE)
    return {
        re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        for heading in headings
    }


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    here = PurePosixPath(document).parent
    for target, anchor in LINK.findall(text_of(document)):
        file = (ROOT / here / target).resolve() if target else ROOT / document
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), f"{target}#{anchor}"


def test_commands_that_are_named_exist() -> None:
    told = "\n".join(text_of(document) for document in DOCUMENTS)
    targets = {*re.findall(r"^([a-z]+):", text_of("Makefile"), re.MULTILINE)}
    assert {*re.findall(r"(?:`|    )make ([a-z]+)", told)} <= targets
    commands = {*re.findall(r"manage\.py ([a-z_]+)", told)}
    django = {"migrate", "createsuperuser", "collectstatic", "check"}
    ours = ROOT / "dra_portal/management/commands"
    assert commands - django <= {path.stem for path in ours.glob("*.py")}


def test_a_dump_is_asked_for_alike_everywhere_and_has_what_is_mirrored() -> None:
    told = "\n".join(text_of(document) for document in DOCUMENTS)
    asked = re.findall(r"kubectl get ([a-z,]+) -A -o json", told)
    assert len(asked) == 3
    everywhere = {resource.plural for resource in RESOURCES}
    for kinds in asked:
        assert {*kinds.split(",")} == everywhere - NOT_SERVED_EVERYWHERE


def test_every_target_says_what_it_is_for() -> None:
    """`make` alone prints them."""
    printed = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, capture_output=True, check=True
    ).stdout.decode()
    phony = re.search(r"^\.PHONY: (.+)$", text_of("Makefile"), re.MULTILINE)
    assert phony
    assert {line.split()[0] for line in printed.splitlines()} == {*phony[1].split()}


def test_the_table_of_rooms_has_all_of_them() -> None:
    table = (
        text_of("docs/architecture.md").partition("| room |")[2].partition("\n\n")[0]
    )
    told = re.findall(r"^\| `(\w+)/` \|", table, re.MULTILINE)
    assert sorted(told) == sorted(ROOMS.split("|"))
