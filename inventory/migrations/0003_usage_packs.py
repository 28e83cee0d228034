"""Rows for packed numbers; changes need fewer indexes."""
from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("inventory", "0002_history"),
    ]

    operations = [
        migrations.CreateModel(
            name="UsagePack",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("span", models.IntegerField()),
                ("at", models.DateTimeField()),
                ("data", models.BinaryField()),
                (
                    "series",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="packs",
                        to="inventory.usageseries",
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="usagepack",
            index=models.Index(fields=["span", "at"], name="usagepack_by_time"),
        ),
        migrations.AddConstraint(
            model_name="usagepack",
            constraint=models.UniqueConstraint(
                fields=("series", "span", "at"), name="usagepack_unique_time"
            ),
        ),
        migrations.RemoveIndex(
            model_name="usagechange",
            name="usagechange_by_time",
        ),
        migrations.AlterField(
            model_name="usagechange",
            name="series",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="changes",
                to="inventory.usageseries",
            ),
        ),
        migrations.AddField(
            model_name="usagetrack",
            name="lost_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="usagetrack",
            name="packed_until",
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
