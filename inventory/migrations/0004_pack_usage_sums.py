"""What was summed up so far goes into packs, number by number."""
from __future__ import annotations

from itertools import groupby

from django.db import migrations

from inventory.history.kept import BLOCK, moment, seconds
from inventory.history.numbers import FIELDS, Numbers
from inventory.history.packing import pack_sums
from inventory.history.spans import Total, floor


def pack(apps, _schema_editor):
    """A series after the other, so that memory holds no more than one of its blocks."""
    sums = apps.get_model("inventory", "UsageSum")
    packs = apps.get_model("inventory", "UsagePack")
    rows = sums.objects.order_by("series_id", "span", "at").values_list(
        "series_id", "span", "at", "seconds", *FIELDS
    )
    new = []
    for (series, span, begin), some in groupby(
        rows.iterator(chunk_size=5_000), key=_block
    ):
        found = {
            (seconds(at) - begin) // span: Total(known, Numbers(*numbers))
            for _, _, at, known, *numbers in some
        }
        data = pack_sums(found, span)
        new.append(packs(series_id=series, span=span, at=moment(begin), data=data))
        if len(new) >= 1_000:
            packs.objects.bulk_create(new, ignore_conflicts=True)
            new = []
    packs.objects.bulk_create(new, ignore_conflicts=True)


def _block(row):
    series, span, at, *_ = row
    return series, span, floor(seconds(at), BLOCK[span])


class Migration(migrations.Migration):
    dependencies = [
        ("inventory", "0003_usage_packs"),
    ]

    operations = [
        # Back again nothing is unpacked: hours and days that are still known as
        # changes would be summed up anew, older ones stay away.
        migrations.RunPython(pack, migrations.RunPython.noop),
    ]
