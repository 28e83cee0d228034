"""Recipes with pods: claims of their own, shared claims, extended resources."""

from __future__ import annotations

from collections.abc import Iterator

from claims.authoring.choices.words import counted
from claims.authoring.gallery import documents
from claims.authoring.gallery.documents import devices, request, slug
from claims.authoring.gallery.examples import Draft
from claims.authoring.gallery.scene import Scene
from claims.authoring.gallery.simple import label_of
from dra.allocation.placing import schedulable
from dra.extended_resources import claim_for, classes_by_resource, plugin_nodes
from dra.objects import write

REPLICAS = 2


def pod_with_claim(scene: Scene) -> Iterator[Draft]:
    for seen in scene.classes:
        name = label_of(seen)
        wanted = devices(request(name, seen.name))
        claim = documents.claim(slug(f"{name}-of-my-pod"), wanted)
        entry = {"name": name, "resourceClaimName": claim["metadata"]["name"]}
        yield Draft(
            code=f"pod:{seen.name}",
            title=f"A pod with a claim for {seen.name}",
            sentence="The claim is an object of its own and stays when the pod is gone; "
            "the next pod that names it gets the same device while it is allocated.",
            documents=(claim, documents.pod(f"{name}-pod", entry)),
            needs=(wanted,),
            tags=("pod",),
            drivers=seen.drivers,
        )


def two_pods(scene: Scene) -> Iterator[Draft]:
    for seen in scene.classes:
        name = label_of(seen)
        wanted = devices(request(name, seen.name))
        claim = documents.claim(slug(f"{name}-of-two-pods"), wanted)
        entry = {"name": name, "resourceClaimName": claim["metadata"]["name"]}
        pods = [documents.pod(f"{name}-{letter}", entry) for letter in "ab"]
        yield Draft(
            code=f"two-pods:{seen.name}",
            title=f"Two pods that share one device of {seen.name}",
            sentence="Both name the same claim, so both run on the node of its device "
            "and use it together.",
            documents=(claim, *pods),
            needs=(wanted,),
            tags=("pod", "sharing"),
            drivers=seen.drivers,
        )


def deployment(scene: Scene) -> Iterator[Draft]:
    for seen in scene.classes:
        name = label_of(seen)
        wanted = devices(request(name, seen.name))
        template = documents.template(slug(f"{name}-template"), wanted)
        entry = {
            "name": name,
            "resourceClaimTemplateName": template["metadata"]["name"],
        }
        replicas = min(REPLICAS, seen.most)
        yield Draft(
            code=f"deployment:{seen.name}",
            title=f"A Deployment whose pods each get a device of {seen.name}",
            sentence="Kubernetes makes a claim from the template for every pod "
            f"({counted(replicas, 'replica')} here) and deletes it with the pod.",
            documents=(
                template,
                documents.deployment(f"{name}-workers", entry, replicas=replicas),
            ),
            needs=(wanted,) * replicas,
            tags=("pod", "template"),
            drivers=seen.drivers,
        )


def extended_resource(scene: Scene) -> Iterator[Draft]:
    """A pod that asks as for a device plugin."""
    if not scene.gates.extended_resource:
        return
    served = {
        by.class_name: resource
        for resource, by in classes_by_resource(scene.snapshot).items()
        if not by.implicit
    }
    for seen in scene.classes:
        resource = served.get(seen.name)
        if resource is None:
            continue
        pod = documents.pod_with_resources(
            f"{label_of(seen)}-by-resource", {resource: "1"}
        )
        found = claim_for(pod["spec"], scene.snapshot)
        if found is None or found.claim is None or found.problems:
            continue
        plugins = set(plugin_nodes(scene.snapshot.nodes.values(), resource))
        yield Draft(
            code=f"resource:{resource}",
            title=f"A pod that asks for {resource}",
            sentence=f"No claim to write: the class {seen.name} stands for {resource}, "
            "and the scheduler makes the claim.",
            documents=(pod,),
            needs=(write(found.claim.spec.devices),),
            tags=("pod", "extended resource"),
            drivers=seen.drivers,
            node_names=tuple(
                name for name in schedulable(scene.snapshot) if name not in plugins
            ),
        )
