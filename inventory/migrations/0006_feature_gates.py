"""Feature gates that a cluster sets otherwise than its version has them."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inventory", "0005_no_usage_sums")]

    operations = [
        migrations.AddField(
            model_name="cluster",
            name="feature_gates",
            field=models.JSONField(blank=True, default=dict),
        ),
    ]
