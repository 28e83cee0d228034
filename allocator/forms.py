"""What the Allocate button sends."""

from __future__ import annotations

from django import forms


class StartRunForm(forms.Form):
    """``node`` empty: the first node by name where the claim fits."""

    namespace = forms.CharField(max_length=63, widget=forms.HiddenInput)
    claim_name = forms.CharField(max_length=253, widget=forms.HiddenInput)
    node = forms.CharField(max_length=253, required=False, label="Only on node")
    dry_run = forms.BooleanField(required=False)
