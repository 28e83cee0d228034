"""Forms of the doors: signing in and making a token."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError

from web import throttle
from web.doors import Role


class SignInForm(AuthenticationForm):
    """Django's form with a throttle in front of the password check."""

    error_messages = {
        "invalid_login": "Name or password is wrong.",
        "inactive": "Name or password is wrong.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"].max_length = 1000  # type: ignore[attr-defined]  # a CharField; Django's form does not say so

    def clean(self) -> dict[str, Any]:
        assert self.request is not None
        name = self.cleaned_data.get("username", "")
        if not name or not self.cleaned_data.get("password"):
            return self.cleaned_data
        attempt = throttle.begin(self.request, name)
        if attempt.wait is not None:
            raise ValidationError(_wait_sentence(attempt.wait), code="throttled")
        cleaned = super().clean()
        throttle.succeed(attempt)
        return cleaned or self.cleaned_data


def _wait_sentence(wait: timedelta) -> str:
    minutes = max(1, math.ceil(wait.total_seconds() / 60))
    unit = "minute" if minutes == 1 else "minutes"
    return f"Too many failed attempts. Try again in {minutes} {unit}."


class TokenForm(forms.Form):
    """``roles`` are those that the user may give: their own and lower ones."""

    name = forms.CharField(
        max_length=100,
        help_text="Who uses it: “ci of team A”.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    role = forms.ChoiceField()
    days = forms.TypedChoiceField(
        label="Expires",
        coerce=int,
        choices=[
            (7, "in 7 days"),
            (30, "in 30 days"),
            (90, "in 90 days"),
            (365, "in a year"),
            (0, "never"),
        ],
        initial=90,
    )

    def __init__(self, *args: Any, roles: list[Role], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["role"] = forms.ChoiceField(
            choices=[(role.value, f"{role}: may {role.may}") for role in roles]
        )
