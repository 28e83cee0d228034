from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from cluster.dump import iter_objects, read_dump
from cluster.errors import DumpError
from tests.cluster.running import claim, resource_slice

Json = dict[str, Any]


def node(name: str) -> Json:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}


def listed(*items: Json) -> Json:
    return {"apiVersion": "v1", "kind": "List", "items": list(items)}


@pytest.fixture
def write(tmp_path: Path):
    def write(name: str, content: Any) -> Path:
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, str):
            path.write_text(content)
        else:
            path.write_text(json.dumps(content, indent=1))
        return path

    return write


def names(dump, kind: str) -> list[str]:
    return [obj["metadata"]["name"] for obj in dump.objects[kind]]


def test_a_list_is_sorted_by_kind(write):
    path = write("a.json", listed(node("n"), resource_slice("s"), claim("c")))
    dump = read_dump([path])
    assert names(dump, "Node") == ["n"]
    assert dump.objects["ResourceSlice"] == [resource_slice("s")]
    assert dump.objects["ResourceClaim"] == [claim("c")]
    assert dump.objects["Pod"] == []
    assert dump.problems == ()
    assert len(dump) == 3
    assert [obj["kind"] for obj in iter_objects(dump)] == [
        "Node",
        "ResourceSlice",
        "ResourceClaim",
    ]


@pytest.mark.parametrize("name", ["a.yaml", "a.json", "a.txt"])
@pytest.mark.parametrize("as_yaml", [True, False])
def test_the_content_decides_the_format_not_the_name(write, name, as_yaml):
    document = listed(node("n"))
    text = yaml.safe_dump(document) if as_yaml else json.dumps(document)
    assert names(read_dump([write(name, text)]), "Node") == ["n"]


def test_several_documents_and_several_files_make_one_cluster(write):
    one = write(
        "a.yaml", "---\n".join(yaml.safe_dump(x) for x in (node("a"), node("b")))
    )
    two = write("b.json", resource_slice("s"))
    dump = read_dump([one, two])
    assert names(dump, "Node") == ["a", "b"]
    assert names(dump, "ResourceSlice") == ["s"]


@pytest.mark.parametrize("as_yaml", [True, False])
def test_items_of_a_typed_list_take_kind_and_version_from_it(write, as_yaml):
    """What an API server answers, and kubectl get --raw prints."""
    item = {
        "metadata": {"name": "s", "managedFields": [{"manager": "driver"}]},
        "spec": {"devices": [{"name": "d", "basic": {"attributes": {}}}]},
    }
    document = {
        "kind": "ResourceSliceList",
        "apiVersion": "resource.k8s.io/v1beta1",
        "items": [item],
    }
    text = yaml.safe_dump(document) if as_yaml else json.dumps(document)
    [found] = read_dump([write("a", text)]).objects["ResourceSlice"]
    assert found == {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "s"},
        "spec": {"devices": [{"name": "d", "attributes": {}}]},
    }


def test_times_in_yaml_stay_text(write):
    text = yaml.safe_dump(node("n")) + "  creationTimestamp: 2026-01-15T08:00:00Z\n"
    text = text.replace("  name: n\n", "").replace(
        "metadata:\n", "metadata:\n  name: n\n"
    )
    [found] = read_dump([write("a.yaml", text)]).objects["Node"]
    assert found["metadata"]["creationTimestamp"] == "2026-01-15T08:00:00Z"


def test_a_manifest_without_a_namespace_is_in_default(write):
    body = claim("c")
    del body["metadata"]["namespace"]
    [found] = read_dump([write("a.json", body)]).objects["ResourceClaim"]
    assert found["metadata"]["namespace"] == "default"


def test_other_kinds_are_counted_and_passed_over(write):
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}
    same_word = {"apiVersion": "other.io/v1", "kind": "Node", "metadata": {"name": "x"}}
    dump = read_dump([write("a.json", listed(other, other, same_word, node("n")))])
    assert dump.ignored == {"ConfigMap": 2, "Node": 1}
    assert names(dump, "Node") == ["n"]


@pytest.mark.parametrize("as_yaml", [True, False])
def test_items_that_cannot_be_used_are_told_and_the_rest_goes_on(write, as_yaml):
    basic_in_v1 = resource_slice("basic-in-v1")
    basic_in_v1["spec"]["devices"] = [{"name": "d", "basic": {"attributes": {}}}]
    items: list[Any] = [
        node("good"),
        5,
        {"metadata": {"name": "x"}},
        {"apiVersion": "v1", "kind": "Node", "metadata": {}},
        {"apiVersion": "v1", "kind": "Node"},
        {"kind": "Node", "metadata": {"name": "x"}},
        {"apiVersion": "resource.k8s.io/v9", "kind": "ResourceClaim"},
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "namespace": 5},
        },
        basic_in_v1,
        node("good"),
    ]
    document = listed(*items)
    text = yaml.safe_dump(document) if as_yaml else json.dumps(document)
    # A dumper that sees one object twice writes an alias; kubectl never does.
    text = text.replace("&id001", "").replace("*id001", "{}")

    dump = read_dump([write("a", text)])

    assert names(dump, "Node") == ["good"]
    assert dump.objects["ResourceSlice"] == []
    assert list(dump.problems) == [
        "a: items[1]: is not an object",
        "a: items[2]: has no kind",
        "a: items[3]: Node has no metadata.name",
        "a: items[4]: Node has no metadata.name",
        "a: items[5]: Node with no apiVersion cannot be read",
        "a: items[6]: ResourceClaim with apiVersion resource.k8s.io/v9 cannot be read",
        "a: items[7]: Pod p: metadata.namespace must be text",
        "a: items[8]: ResourceSlice basic-in-v1: spec.devices[0].basic: this is the "
        "v1beta1 layout under a v1 header; move its fields to spec.devices[0], or set "
        "apiVersion to resource.k8s.io/v1beta1",
        "a: items[9]: Node good is there twice; the last one counts",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "a.json is empty"),
        ("  \n", "a.json is empty"),
        ("# only a comment\n", "a.json is empty"),
        ('{"kind": "List",\n "items": [1,', "a.json: the file ends in the middle"),
        (
            '{"kind": "List",\n "items": [}\n',
            "a.json: line 2, column 12: not valid JSON: invalid character",
        ),
        ('{"a": 1} {"b": 2}', "a.json: line 1, column 1"),
        ('{"items": 5}', "a.json: not a Kubernetes object or List"),
        ("{}", "a.json: not a Kubernetes object or List: it has no kind"),
        ("[]", "a.json: not a Kubernetes object or List: it has no kind"),
        ("just words", "a.json: not a Kubernetes object or List: it has no kind"),
        (
            "Error from server (Forbidden): nodes is forbidden",
            "a.json: not a Kubernetes object or List: it has no kind",
        ),
        ("a: [1", "a.json: line "),
        ("kind: NodeList\nitems: 5", "a.json: items of NodeList must be a list"),
        ('{"kind": "x", "a": ' + "[" * 100_000, "a.json: nested too deep"),
        ("[" * 100_000, "a.json: line 1, column 1001: exceeded maximum nesting"),
        (b"\x00\x01\x02", "a.json: not text in UTF-8"),
        (b"\xff\xfe\x00", "a.json: not text in UTF-8 or UTF-16"),
        ("a: &x 1\nkind: *x", "a.json: line 1, column 4: aliases"),
    ],
)
def test_a_broken_file_gets_one_sentence_with_its_name(write, content, message):
    path = write("a.json", content)
    with pytest.raises(DumpError) as caught:
        read_dump([path])
    text = str(caught.value).replace(f"{path.parent}/", "")
    assert text.startswith(message)
    assert "\n" not in text


def test_a_missing_file_and_a_folder_are_told(tmp_path):
    with pytest.raises(DumpError, match="there is no such file"):
        read_dump([tmp_path / "x.json"])
    with pytest.raises(DumpError, match="is a directory"):
        read_dump([tmp_path])


def test_text_of_a_windows_shell_is_read(write):
    text = json.dumps(listed(node("n")))
    utf16 = write("a.json", text.encode("utf-16"))
    bom = write("b.json", b"\xef\xbb\xbf" + text.encode())
    assert names(read_dump([utf16]), "Node") == ["n"]
    assert names(read_dump([bom]), "Node") == ["n"]


def test_all_files_together_are_bounded(write):
    one = write("a.json", node("a"))
    two = write("b.json", node("b"))
    size = one.stat().st_size
    assert len(read_dump([one, two], max_bytes=2 * size)) == 2
    with pytest.raises(DumpError, match=r"b\.json: too big; all files together"):
        read_dump([one, two], max_bytes=2 * size - 1)


def test_the_version_follows_the_content(write):
    one = write("a.json", node("a"))
    first = read_dump([one]).version
    assert read_dump([one]).version == first
    write("a.json", node("b"))
    assert read_dump([one]).version != first


def test_many_problems_do_not_fill_the_memory(write):
    dump = read_dump([write("a.json", listed(*([{}] * 5000)))])
    assert len(dump.problems) == 1001
    assert dump.problems[-1] == "more than 1000 items were left out"


def test_yaml_in_braces_is_read_when_the_name_says_yaml(write):
    text = "{apiVersion: v1, kind: Node, metadata: {name: n}}"
    assert names(read_dump([write("a.yaml", text)]), "Node") == ["n"]
    with pytest.raises(DumpError, match="not valid JSON"):
        read_dump([write("a.json", text)])
