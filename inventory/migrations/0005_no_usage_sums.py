"""The rows of single hours and days, which are packed now."""
from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("inventory", "0004_pack_usage_sums"),
    ]

    operations = [
        migrations.DeleteModel(
            name="UsageSum",
        ),
    ]
