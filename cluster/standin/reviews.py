"""The two questions about oneself: may I, and who am I."""

from __future__ import annotations

from typing import Any

from cluster.standin.access import User
from cluster.standin.answers import bad_request

Json = dict[str, Any]


def access_review(user: User, sent: Json) -> Json:
    """SelfSubjectAccessReview. Raises 400."""
    spec = sent.get("spec")
    asked = spec.get("resourceAttributes") if isinstance(spec, dict) else None
    if not isinstance(asked, dict):
        raise bad_request("spec.resourceAttributes is missing")
    resource = str(asked.get("resource") or "")
    if asked.get("subresource"):
        resource = f"{resource}/{asked['subresource']}"
    allowed = user.may(
        str(asked.get("verb") or ""),
        str(asked.get("group") or ""),
        resource,
        str(asked.get("namespace") or ""),
        str(asked.get("name") or ""),
    )
    return {
        "kind": "SelfSubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": spec,
        "status": {"allowed": allowed},
    }


def who_am_i(user: User) -> Json:
    """SelfSubjectReview."""
    info = {"username": user.name, "groups": list(user.groups)}
    return {
        "kind": "SelfSubjectReview",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {},
        "status": {"userInfo": info},
    }
