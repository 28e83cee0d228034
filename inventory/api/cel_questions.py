"""What the CEL endpoints take."""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from inventory.choices import DeviceState
from inventory.selecting import Scope
from web.filters import MAX_TEXT

MOST_DEVICES: Final = 1000


@extend_schema_field(OpenApiTypes.STR)
class ExpressionField(serializers.Field[str, Any, str, Any]):
    """Any text: what is wrong with it is part of the answer."""

    default_error_messages = {"invalid": "A text is expected."}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return data

    def to_representation(self, value: str) -> str:
        return value


class Strict(serializers.Serializer[Any]):
    """Refuses what it does not know: a misspelt scope would silently be everything."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict):
            unknown = [str(name) for name in data if name not in self.fields]
            if unknown:
                raise serializers.ValidationError(
                    {
                        name[:MAX_TEXT]: "There is no such field."
                        for name in unknown[:20]
                    }
                )
        return super().to_internal_value(data)


class NameField(serializers.CharField):
    """A name in Kubernetes, or nothing."""

    def __init__(self, **kw: Any) -> None:
        super().__init__(
            max_length=MAX_TEXT, required=False, allow_blank=True, default="", **kw
        )


class ScopeSerializer(Strict):
    """Only devices for which all of this holds; an empty text asks for nothing."""

    driver = NameField()
    node = NameField(help_text="The node that owns the device.")
    pool = NameField()
    state = serializers.ChoiceField(
        choices=DeviceState.choices, required=False, allow_blank=True, default=""
    )


class EvaluateSerializer(Strict):
    """An expression, and the devices that it is asked about."""

    expression = ExpressionField(help_text="A device selector; at most 10,240 bytes.")
    scope = ScopeSerializer(required=False)
    first = serializers.IntegerField(
        min_value=0,
        max_value=MOST_DEVICES,
        required=False,
        default=20,
        help_text="How many devices of each outcome are listed.",
    )

    def get_fields(self) -> dict[str, Any]:
        # The name is a word of Python.
        name = NameField(help_text="Only devices of this DeviceClass.")
        return super().get_fields() | {"class": name}

    def scope_asked(self) -> Scope:
        """The scope of validated data."""
        data = self.validated_data
        return Scope(device_class=data["class"], **data.get("scope", {}))


class DeviceKeySerializer(Strict):
    driver = serializers.CharField(max_length=MAX_TEXT)
    pool = serializers.CharField(max_length=MAX_TEXT)
    device = serializers.CharField(max_length=MAX_TEXT)


class ExplainSerializer(Strict):
    """An expression and one device."""

    expression = ExpressionField(help_text="A device selector; at most 10,240 bytes.")
    device = DeviceKeySerializer()
