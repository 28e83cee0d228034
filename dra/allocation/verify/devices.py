"""Whether one device may serve one request, others left aside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra import cel
from dra.allocation.features import Features
from dra.allocation.verify.violations import Code
from dra.allocation.verify.wants import Want
from dra.allocation.verify.world import Published
from dra.errors import NotSupportedError
from dra.names import DeviceID
from dra.objects import (
    DeviceSelector,
    DeviceTaint,
    DeviceTaintRule,
    TaintRuleSelector,
    Toleration,
)

Fault = tuple[Code, str]
"""The rule, and what is wrong: words that go on after "Device X"."""


class Judge:
    """Judges devices for requests, and remembers what expressions said."""

    def __init__(self, features: Features, rules: Iterable[DeviceTaintRule]) -> None:
        self.features = features
        self.rules = tuple(rules)
        self._answers: dict[tuple[str, DeviceID], bool | str] = {}

    def faults(self, want: Want, published: Published) -> Iterator[Fault]:
        """Why the device may not serve the request."""
        selected = self.refusal(want, published)
        if selected is not None:
            yield selected
        device = published.device
        if device.consumes_counters and not self.features.partitionable_devices:
            yield (
                Code.FEATURE_OFF,
                "consumes counters, but DRAPartitionableDevices is off",
            )
        taint = self._taint(want, published)
        if taint is not None:
            yield (
                Code.TAINT_NOT_TOLERATED,
                f"has the taint {taint.key}:{taint.effect}, which the request does not "
                "tolerate",
            )

    def refusal(self, want: Want, published: Published) -> Fault | None:
        """Why the device is none of those that the request means; None when it is one."""
        features = self.features
        if published.device.binding_conditions and not (
            features.device_binding_and_status
        ):
            return (
                Code.FEATURE_OFF,
                "has binding conditions, but DRADeviceBindingConditions is off",
            )
        of_class = want.device_class and want.device_class.spec.selectors
        for owner, selectors in (
            (f"class {want.body.device_class_name}", of_class),
            ("the request", want.body.selectors),
        ):
            for position, selector in enumerate(selectors or ()):
                answer = self._answer(selector, published)
                where = f"selector #{position} of {owner}"
                if answer is False:
                    return Code.SELECTOR_FALSE, f"does not pass {where}"
                if answer is not True:
                    return Code.SELECTOR_ERROR, f"makes {where} fail: {answer}"
        return None

    def _answer(self, selector: DeviceSelector, published: Published) -> bool | str:
        if selector.cel is None:
            return "it is not written in CEL"
        key = (selector.cel.expression, published.id)
        if key not in self._answers:
            self._answers[key] = self._evaluate(selector.cel.expression, published)
        return self._answers[key]

    def _evaluate(self, expression: str, published: Published) -> bool | str:
        lists = self.features.list_type_attributes
        try:
            program = cel.compile(
                expression,
                features=cel.CelFeatures(list_type_attributes=lists),
                environment="stored",
            )
            return program.evaluate(as_input(published))
        except cel.CompileError as error:
            return error.message
        except (cel.EvaluationError, NotSupportedError) as error:
            return str(error)

    def _taint(self, want: Want, published: Published) -> DeviceTaint | None:
        """The first taint that keeps the request off the device."""
        if not self.features.device_taints:
            return None
        taints = list(published.device.taints or ())
        taints += [
            rule.spec.taint
            for rule in self.rules
            if _means(rule.spec.device_selector, published.id)
        ]
        for taint in taints:
            if taint.effect in {"NoSchedule", "NoExecute"} and not any(
                _tolerates(toleration, taint)
                for toleration in want.body.tolerations or ()
            ):
                return taint
        return None


def as_input(published: Published) -> cel.DeviceInput:
    """The device as expressions see it."""
    device = published.device
    return cel.DeviceInput(
        driver=published.id.driver,
        attributes=device.attributes or {},
        capacity=device.capacity or {},
        allow_multiple_allocations=bool(device.allow_multiple_allocations),
    )


def _means(selector: TaintRuleSelector | None, device: DeviceID) -> bool:
    """A rule without selector means every device."""
    if selector is None:
        return True
    asked = (selector.driver, selector.pool, selector.device)
    return all(a is None or a == b for a, b in zip(asked, device, strict=True))


def _tolerates(toleration: Toleration, taint: DeviceTaint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
    return False
