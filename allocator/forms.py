"""What the buttons of runs send."""

from __future__ import annotations

from typing import Any

from django import forms

from allocator.choices import NodePolicy
from allocator.services import MOST_CLAIMS


class ClaimForm(forms.Form):
    """A claim by name, and whether to write or only to show."""

    namespace = forms.CharField(max_length=63, widget=forms.HiddenInput)
    claim_name = forms.CharField(max_length=253, widget=forms.HiddenInput)
    dry_run = forms.BooleanField(required=False)


class StartRunForm(ClaimForm):
    """``node`` empty: of the nodes where the claim fits, the one ``policy`` likes."""

    node = forms.CharField(max_length=253, required=False, label="Only on node")
    policy = forms.ChoiceField(choices=NodePolicy, required=False)

    def clean_policy(self) -> str:
        return self.cleaned_data["policy"] or NodePolicy.FIRST


class ReleaseForm(ClaimForm):
    override = forms.BooleanField(required=False)


class RetryForm(forms.Form):
    """``write``: make what a plan has shown happen."""

    write = forms.BooleanField(required=False)


class BatchForm(forms.Form):
    """``claim`` is repeated: ``namespace/name`` each, in the order to plan them."""

    policy = forms.ChoiceField(choices=NodePolicy, required=False)
    dry_run = forms.BooleanField(required=False)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        names = self.data.getlist("claim") if hasattr(self.data, "getlist") else []
        if len(names) > MOST_CLAIMS:
            raise forms.ValidationError(
                f"{len(names):,} claims are too many; at most {MOST_CLAIMS} at once."
            )
        claims = []
        for name in names:
            namespace, _, claim = name.partition("/")
            if not namespace or not claim or len(name) > 320:
                raise forms.ValidationError("A claim must be given as namespace/name.")
            claims.append((namespace, claim))
        cleaned["claims"] = claims
        return cleaned

    def clean_policy(self) -> str:
        return self.cleaned_data["policy"] or NodePolicy.FIRST


class RuleForm(forms.Form):
    namespace = forms.RegexField(
        r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$",
        max_length=63,
        label="Namespace",
        error_messages={
            "invalid": "Namespace: lower-case letters, digits and - only, at most 63."
        },
    )
    policy = forms.ChoiceField(choices=NodePolicy, required=False, label="Node")
    enabled = forms.BooleanField(required=False)

    def clean_policy(self) -> str:
        return self.cleaned_data["policy"] or NodePolicy.FIRST
