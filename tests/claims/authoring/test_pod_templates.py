"""The pods that objects of many kinds would start, and how many of each."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest

from claims.authoring.manifests import read
from claims.authoring.pod_templates import pod_templates

CONTAINERS = "{spec: {containers: [{name: c}]}}"


@pytest.mark.parametrize(
    ("text", "path", "copies"),
    [
        ("kind: Pod\nspec: {containers: [{name: c}]}", "", 1),
        (
            f"kind: Deployment\nspec: {{replicas: 3, template: {CONTAINERS}}}",
            "spec.template",
            3,
        ),
        (f"kind: StatefulSet\nspec: {{template: {CONTAINERS}}}", "spec.template", 1),
        (
            f"kind: ReplicaSet\nspec: {{replicas: 0, template: {CONTAINERS}}}",
            "spec.template",
            0,
        ),
        (f"kind: DaemonSet\nspec: {{template: {CONTAINERS}}}", "spec.template", None),
        (
            f"kind: Job\nspec: {{parallelism: 4, template: {CONTAINERS}}}",
            "spec.template",
            4,
        ),
        (
            f"kind: Job\nspec: {{parallelism: 4, completions: 3, template: {CONTAINERS}}}",
            "spec.template",
            3,
        ),
        (
            f"kind: CronJob\nspec: {{jobTemplate: {{spec: {{template: {CONTAINERS}}}}}}}",
            "spec.jobTemplate.spec.template",
            1,
        ),
        (f"kind: PodTemplate\ntemplate: {CONTAINERS}", "template", 1),
        (
            f"kind: Odd\nspec: {{a: [{{podTemplate: {CONTAINERS}}}]}}",
            "spec.a[0].podTemplate",
            1,
        ),
    ],
)
def test_pods_are_found_in_objects_of_many_kinds(text, path, copies):
    [template] = pod_templates(read(text).documents[0].value)
    assert (template.path, template.copies) == (path, copies)
    assert template.spec["containers"] == [{"name": "c"}]


def found(text):
    [document] = read(dedent(text)).documents
    return [(t.role, t.path, t.copies) for t in pod_templates(document.value)]


def test_a_job_set_has_a_pod_for_each_of_its_jobs():
    text = f"""\
        kind: JobSet
        metadata: {{name: train}}
        spec:
          replicatedJobs:
          - name: driver
            template: {{spec: {{template: {CONTAINERS}}}}}
          - name: workers
            replicas: 2
            template: {{spec: {{parallelism: 4, template: {CONTAINERS}}}}}
        """
    assert found(text) == [
        (
            "driver",
            "spec.replicatedJobs[0].template.spec.template",
            1,
        ),
        (
            "workers",
            "spec.replicatedJobs[1].template.spec.template",
            8,
        ),
    ]


def test_leaders_are_counted_apart_from_workers():
    def text(leader):
        return f"""\
            kind: LeaderWorkerSet
            spec:
              replicas: 2
              leaderWorkerTemplate: {{size: 4, {leader}workerTemplate: {CONTAINERS}}}
            """

    assert [(role, copies) for role, _, copies in found(text(""))] == [("workers", 8)]
    leader = f"leaderTemplate: {CONTAINERS}, "
    assert [(role, copies) for role, _, copies in found(text(leader))] == [
        ("leader", 2),
        ("workers", 6),
    ]


def test_pods_of_unknown_kinds_are_known_by_their_templates():
    text = f"""\
        kind: RayCluster
        metadata: {{name: ray}}
        spec:
          headGroupSpec: {{template: {CONTAINERS}}}
          workerGroupSpecs:
          - {{groupName: big, replicas: 5, template: {CONTAINERS}}}
          other: {{template: {{spec: {{x: 1}}}}, templates: {CONTAINERS}}}
        """
    assert found(text) == [
        ("", "spec.headGroupSpec.template", 1),
        ("big", "spec.workerGroupSpecs[0].template", 5),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "kind: Deployment\nspec: {template: 1}",
        "kind: Deployment\nspec: []",
        "kind: JobSet\nspec: {replicatedJobs: {}}",
        "kind: ConfigMap\ndata: {template: x}",
        "kind: [Pod]\nspec: {}",
        "kind: X\ntemplate: {spec: {containers: [{image: unnamed}]}}",
    ],
)
def test_objects_without_pods_have_none(text):
    assert found(text) == []


def test_the_number_of_pods_of_one_object_is_bounded():
    many = {
        "kind": "X",
        "a": [{"template": {"spec": {"containers": [{"name": "c"}]}}}] * 99,
    }
    assert len(pod_templates(many)) == 64
    deep: Any = {"template": {"spec": {"containers": [{"name": "c"}]}}}
    for _ in range(90):
        deep = [deep]
    assert pod_templates({"kind": "X", "a": deep}) == []


def test_a_job_of_another_kind_of_jobs_has_its_pods_by_task():
    """Volcano calls its objects Job too, and has one template per task."""
    text = f"""\
        apiVersion: batch.volcano.sh/v1alpha1
        kind: Job
        spec:
          minAvailable: 4
          tasks:
          - {{name: ps, replicas: 1, template: {CONTAINERS}}}
          - {{name: worker, replicas: 3, template: {CONTAINERS}}}
        """
    assert found(text) == [
        ("ps", "spec.tasks[0].template", 1),
        ("worker", "spec.tasks[1].template", 3),
    ]


def test_templates_of_a_map_are_called_by_their_keys():
    text = f"""\
        kind: PyTorchJob
        spec:
          pytorchReplicaSpecs:
            Master: {{replicas: 1, template: {CONTAINERS}}}
            Worker: {{replicas: 3, template: {CONTAINERS}}}
        """
    assert found(text) == [
        ("Master", "spec.pytorchReplicaSpecs.Master.template", 1),
        ("Worker", "spec.pytorchReplicaSpecs.Worker.template", 3),
    ]


def test_copies_of_what_is_around_a_template_multiply_its_own():
    text = f"""\
        kind: RayCluster
        spec:
          workerGroupSpecs:
          - {{groupName: big, replicas: 5, numOfHosts: 2, template: {CONTAINERS}}}
        """
    assert found(text) == [("big", "spec.workerGroupSpecs[0].template", 10)]
    text = f"""\
        kind: Fleet
        spec: {{replicas: 2, template: {{spec: {{template: {CONTAINERS}}}}}}}
        """
    assert found(text) == [("", "spec.template.spec.template", 2)]


def test_an_object_inside_another_one_counts_as_it_does_alone():
    text = f"""\
        kind: AppWrapper
        spec:
          components:
          - template:
              apiVersion: batch/v1
              kind: Job
              spec: {{parallelism: 4, completions: 3, template: {CONTAINERS}}}
        """
    path = "spec.components[0].template.spec.template"
    assert found(text) == [("", path, 3)]


def test_completions_that_are_null_are_no_bound():
    text = f"kind: Job\nspec: {{parallelism: 4, completions: null, template: {CONTAINERS}}}"
    assert found(text) == [("", "spec.template", 4)]


def test_a_number_of_copies_that_nobody_can_mean_is_still_a_number():
    huge = "9" * 4000
    text = f"""\
        kind: JobSet
        spec:
          replicatedJobs:
          - name: w
            replicas: {huge}
            template: {{spec: {{parallelism: {huge}, template: {CONTAINERS}}}}}
        """
    [(_, _, copies)] = found(text)
    assert f"{copies:,}" == f"{(2**31 - 1) ** 2:,}"
