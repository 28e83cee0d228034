"""A cluster that clusters.yaml names no more is kept for a while."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inventory", "0006_feature_gates")]

    operations = [
        migrations.AddField(
            model_name="cluster",
            name="left_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="cluster",
            name="deleted_by",
            field=models.CharField(blank=True, default="", max_length=150),
            preserve_default=False,
        ),
    ]
