"""Scenarios that are kept: whose they are, and what can be done with them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from allocator.models import SavedScenario, WhatIfRun
from allocator.whatif import saved as services
from allocator.whatif.saved import ScenarioRefused, keep_scenario
from inventory.models import Cluster
from tests.allocator.whatif.conftest import drain, scenario

LIST = "/c/demo/what-if/scenarios/"


@pytest.fixture
def mine(demo: Cluster, viewer: User) -> SavedScenario:
    asked = scenario(drain("gpu-h100-01"))
    return keep_scenario(cluster=demo, user=viewer, name="drain it", scenario=asked)


@pytest.fixture
def colleague(person: Callable[..., User]) -> Client:
    client = Client()
    client.force_login(person("viewer", "colleague"))
    return client


def act(client: Client, saved: SavedScenario, do: str, **more: str) -> str:
    answer = client.post(f"{LIST}{saved.pk}/", {"do": do, **more}, follow=True)
    return answer.content.decode()


def test_the_list_says_what_each_does(mine: SavedScenario, browser: Client) -> None:
    text = browser.get(LIST).content.decode()
    assert "drain it" in text
    assert "Drain gpu-h100-01." in text
    assert "private" in text


def test_nobody_sees_it_until_it_is_shared(
    mine: SavedScenario, browser: Client, colleague: Client
) -> None:
    assert colleague.get(f"{LIST}{mine.pk}/").status_code == 404
    assert "drain it" not in colleague.get(LIST).content.decode()
    act(browser, mine, "share")
    text = colleague.get(f"{LIST}{mine.pk}/").content.decode()
    assert "only a-viewer changes it" in text
    assert 'value="delete"' not in text
    assert "copy it, then change" in act(colleague, mine, "rename", name="x")
    assert "copy it, then change" in act(colleague, mine, "delete")
    act(browser, mine, "unshare")
    assert colleague.get(f"{LIST}{mine.pk}/").status_code == 404


def test_a_colleague_copies_and_runs_what_is_shared(
    mine: SavedScenario, browser: Client, colleague: Client
) -> None:
    act(browser, mine, "share")
    assert "drain it (copy)" in act(colleague, mine, "copy")
    act(colleague, mine, "run")
    run = WhatIfRun.objects.get()
    assert (run.title, run.scenario_id) == ("drain it", mine.pk)
    assert run.user.get_username() == "colleague"


def test_its_answers_are_listed_and_the_last_two_compared(
    mine: SavedScenario, browser: Client
) -> None:
    act(browser, mine, "run")
    act(browser, mine, "run")
    newest, older = WhatIfRun.objects.all()
    text = browser.get(f"{LIST}{mine.pk}/").content.decode()
    assert f"?first={older.pk}&amp;second={newest.pk}" in text


def test_it_is_renamed_and_deleted(mine: SavedScenario, browser: Client) -> None:
    assert "better name" in act(browser, mine, "rename", name=" better \n name ")
    assert "Give the scenario a name." in act(browser, mine, "rename", name=" ")
    act(browser, mine, "run")
    assert "is gone" in act(browser, mine, "delete")
    assert WhatIfRun.objects.get().scenario is None


def test_one_for_nodes_that_are_gone_says_so(
    mine: SavedScenario, browser: Client
) -> None:
    SavedScenario.objects.update(document=drain("gone"))
    assert "the cluster has no node gone" in act(browser, mine, "run")


def test_it_comes_as_a_file(mine: SavedScenario, browser: Client) -> None:
    answer = browser.get(f"{LIST}{mine.pk}/?format=yaml")
    assert 'filename="drain-it.yaml"' in answer["Content-Disposition"]
    assert answer.content.decode().startswith("edits:\n- edit: drain\n")


def test_a_user_keeps_a_bounded_number(
    mine: SavedScenario, viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "MOST", 1)
    with pytest.raises(ScenarioRefused, match="Delete one"):
        services.copy_scenario(saved=mine, user=viewer)
