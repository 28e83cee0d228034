"""What the buttons of a repair send."""

from __future__ import annotations

from django import forms

from allocator.repairs.asking import DEFAULT_HOURS, MOST_HOURS, WISHES


class QuarantineForm(forms.Form):
    wish = forms.ChoiceField(choices=[(w, w) for w in WISHES], required=False)
    hours = forms.IntegerField(
        min_value=1, max_value=MOST_HOURS, required=False, initial=DEFAULT_HOURS
    )


class ClaimForm(forms.Form):
    namespace = forms.CharField(max_length=63)
    claim_name = forms.CharField(max_length=253)


class ReleaseForm(ClaimForm):
    seen_version = forms.CharField(max_length=64)
    although_used = forms.BooleanField(required=False)


class RewriteForm(forms.Form):
    seen_version = forms.CharField(max_length=64)


class LiftForm(forms.Form):
    although_forgotten = forms.BooleanField(required=False)


class NothingForm(forms.Form):
    """For a button that says it all."""
