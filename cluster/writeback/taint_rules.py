"""DeviceTaintRules of ours: one per device, for the moments of one write.

Those of a quarantine have a key of their own and stay until it is lifted.
"""

from __future__ import annotations

from typing import Final

from cluster.errors import AlreadyExists, ApiError, Forbidden, NotFound, Unauthorized
from cluster.resources import ServedResource
from cluster.writeback.answers import EndedError, forbidden, refused
from cluster.writeback.patience import PASSING
from cluster.writeback.sending import Sender
from cluster.writeback.tags import (
    CREATED_BY,
    DOMAIN,
    OWNER,
    ROLE,
    RUN,
    Role,
    Tags,
    digest,
    lasts,
    tags_from,
)
from cluster.writeback.values import (
    Changed,
    Json,
    Refusal,
    Refused,
    Request,
    Step,
    meta_of,
)
from dra.names import DeviceID
from dra.objects import DeviceTaint

KEY: Final = f"{DOMAIN}/guard"
QUARANTINE_KEY: Final = f"{DOMAIN}/quarantine"
EFFECT: Final = "NoSchedule"
"""NoExecute would evict the pods that run on the device."""
JSON: Final = "application/json"


def taint_of(tags: Tags, role: Role = Role.GUARD) -> DeviceTaint:
    return DeviceTaint(key=key_of(role), value=tags.run, effect=EFFECT)


def key_of(role: Role) -> str:
    return QUARANTINE_KEY if role is Role.QUARANTINE else KEY


def rule_name(device: DeviceID, tags: Tags, role: Role) -> str:
    """A quarantine that is prolonged is another rule: then none has to be changed."""
    about = [tags.owner, tags.run, *device]
    if role is Role.QUARANTINE:
        about.append(tags.until)
    return f"dra-portal-{role.value}-{digest(*about)}"


def rule_request(
    device: DeviceID,
    tags: Tags,
    role: Role,
    served: ServedResource,
    created_by: str = "",
) -> Request:
    driver, pool, name = device
    notes = {"annotations": {CREATED_BY: created_by}} if created_by else {}
    body = {
        "apiVersion": served.api_version,
        "kind": "DeviceTaintRule",
        "metadata": {
            "name": rule_name(device, tags, role),
            "labels": tags.labels(role),
            **notes,
        },
        "spec": {
            "deviceSelector": {"driver": driver, "pool": pool, "device": name},
            "taint": {"key": key_of(role), "value": tags.run, "effect": EFFECT},
        },
    }
    return Request(served.path(), body, "", JSON, "POST")


def put(
    sender: Sender, device: DeviceID, tags: Tags, role: Role, created_by: str = ""
) -> None:
    """Make the rule unless it is there, and for long enough. Raises EndedError and PASSING.

    One that a call before this one left may be about to be swept away, so it is made anew.
    """
    name = rule_name(device, tags, role)
    served = sender.api.need("DeviceTaintRule")

    def attempt() -> None:
        found = sender.api.read("DeviceTaintRule", None, name)
        if found is not None:
            _check(found, tags)
            labels = meta_of(found).get("labels") or {}
            if lasts(tags_from(labels), tags):
                return
            delete(sender, name)
        try:
            request = rule_request(device, tags, role, served, created_by)
            sender.send(Step.GUARD, request)
        except AlreadyExists as error:
            if found is None:
                attempt()
                return
            raise EndedError(
                Changed(
                    f"The DeviceTaintRule {name} of an earlier call is still there."
                )
            ) from error
        except (Forbidden, Unauthorized) as error:
            raise EndedError(forbidden(error, "create devicetaintrules")) from error
        except PASSING:
            raise
        except ApiError as error:
            raise EndedError(refused(error, "create devicetaintrules")) from error

    sender.settle(attempt)


def _check(rule: Json, tags: Tags) -> None:
    labels = meta_of(rule).get("labels") or {}
    if (labels.get(OWNER), labels.get(RUN)) != (tags.owner, tags.run):
        name = meta_of(rule).get("name")
        reason = f"A DeviceTaintRule {name} exists that is not this run's. Delete it."
        raise EndedError(Refused(Refusal.UNGUARDED, reason))


def names(sender: Sender, tags: Tags, role: Role) -> set[str]:
    """Of the run's rules that are there. Raises EndedError and PASSING."""
    return {
        str(meta_of(rule).get("name"))
        for rule in _of_run(sender, tags, role)
        if not meta_of(rule).get("deletionTimestamp")
    }


def _of_run(sender: Sender, tags: Tags, role: Role) -> list[Json]:
    selector = f"{OWNER}={tags.owner},{RUN}={tags.run},{ROLE}={role.value}"
    return sender.api.list("DeviceTaintRule", label_selector=selector)


def remove_all(sender: Sender, tags: Tags, role: Role) -> str:
    """Delete the run's rules, whoever made them. A sentence when that fails."""

    def attempt() -> None:
        if sender.api.served("DeviceTaintRule") is None:
            return
        for rule in _of_run(sender, tags, role):
            delete(sender, str(meta_of(rule).get("name")))

    try:
        sender.settle(attempt)
    except EndedError as ended:
        return _left(ended.outcome.reason)
    except (*PASSING, ApiError) as error:
        return _left(str(error))
    return ""


def delete(sender: Sender, name: str) -> None:
    served = sender.api.need("DeviceTaintRule")
    body = {"apiVersion": "v1", "kind": "DeleteOptions"}
    request = Request(served.path(None, name), body, "", JSON, "DELETE")
    try:
        sender.send(Step.GUARD_OFF, request)
    except NotFound:
        return


def _left(why: str) -> str:
    return (
        f"A DeviceTaintRule of this run could not be removed ({why}); the periodic "
        "clean-up will try again."
    )
