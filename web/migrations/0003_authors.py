"""The role between viewer and operator, and the namespaces that are given to it."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def create_group(apps, schema_editor):
    apps.get_model("auth", "Group").objects.get_or_create(name="author")


class Migration(migrations.Migration):

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('web', '0002_roles'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunPython(create_group, migrations.RunPython.noop),
        migrations.CreateModel(
            name='NamespaceGrant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('namespaces', models.CharField(help_text='A name, or a pattern: team-a, team-*, *.', max_length=63)),
                ('clusters', models.CharField(default='*', help_text='A name, or a pattern; * means every one.', max_length=63)),
                ('group', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='namespace_grants', to='auth.group')),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='namespace_grants', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['namespaces', 'clusters'],
                'constraints': [models.CheckConstraint(condition=models.Q(('user', None), ('group', None), _connector='XOR'), name='namespacegrant_for_one', violation_error_message='Choose a user or a group, one of the two.')],
            },
        ),
    ]
