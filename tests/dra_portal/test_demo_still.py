"""Whether anything comes and goes in the demo's cluster by itself."""

from __future__ import annotations

from pathlib import Path

from dra_portal.demo import standin_arguments


def test_only_a_still_cluster_has_no_life_of_its_own() -> None:
    lively = standin_arguments(20, Path("kubeconfig"), still=False)
    still = standin_arguments(20, Path("kubeconfig"), still=True)
    assert set(lively) - set(still) == {"--life"}
