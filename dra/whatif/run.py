"""One scenario on one snapshot, from the edits to the answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Final, Literal

from msgspec.structs import replace

from dra.allocation.features import DEFAULT, Features
from dra.allocation.quirks import Mode
from dra.cel.selection import Stop
from dra.objects import Pod
from dra.snapshot import Snapshot
from dra.whatif import outcomes, sentences
from dra.whatif.ahead import together_on_one_node
from dra.whatif.consumers import ClaimKey, find_pod
from dra.whatif.counting import changed_classes, difference, pool_changes
from dra.whatif.editing import Editor
from dra.whatif.helping import MOST_HELPED, Failure, Strandings, what_helps
from dra.whatif.losses import Losses, Uprooted
from dra.whatif.outcomes import HowFar
from dra.whatif.placing import Placed, Placer, Refused, Stuck, Unit
from dra.whatif.result import (
    Difference,
    ItemResult,
    Loss,
    Placement,
    Result,
)
from dra.whatif.scenario import Scenario, Waiting, scenario_hash
from dra.whatif.taking_away import take_away
from dra.whatif.telling import Reasons, asked_claims, loss_record, placement_record
from dra.whatif.units import Batch, Workload
from dra.whatif.world import World

MOVED: Final = -1
"""The item of placements that are no workload: what had to move."""

type Step = Literal["editing", "moving", "placing", "helping", "counting"]


@dataclasses.dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: ``done`` of ``total`` in one of its steps."""

    step: Step
    done: int
    total: int


type Report = Callable[[Progress], None]


@dataclasses.dataclass(frozen=True, slots=True)
class Simulation:
    """The answer, and the cluster as it is afterwards."""

    result: Result
    after: Snapshot


type Partly = Callable[[Callable[[], Simulation]], None]
"""Called between two placements; what it is given makes the answer so far."""


def run(
    snapshot: Snapshot,
    scenario: Scenario,
    *,
    features: Features = DEFAULT,
    quirks: Mode = "none",
    extended_resources: bool = True,
    stop: Stop | None = None,
    progress: Report | None = None,
) -> Result:
    """The answer of ``scenario`` on ``snapshot``; equal ones give equal answers.

    ``extended_resources`` is the gate DRAExtendedResource. ``stop`` ends it early with
    what was found until then. Raises :class:`~dra.whatif.errors.ScenarioError` with the
    field of a scenario that this cluster cannot have.
    """
    return simulate(
        snapshot,
        scenario,
        features=features,
        quirks=quirks,
        extended_resources=extended_resources,
        stop=stop,
        progress=progress,
    ).result


def simulate(
    snapshot: Snapshot,
    scenario: Scenario,
    *,
    features: Features = DEFAULT,
    quirks: Mode = "none",
    extended_resources: bool = True,
    stop: Stop | None = None,
    progress: Report | None = None,
    partly: Partly | None = None,
    count_always: bool = False,
    goes_on: bool = False,
) -> Simulation:
    """As :func:`run`, with the snapshot that comes out.

    ``partly`` may look at the answer so far whenever it likes; that changes nothing.
    ``count_always``: tell the difference also when the run was stopped, which takes a
    moment longer. ``goes_on``: when it is stopped somebody else goes on, so the answer
    is one so far.
    """
    world = World(
        snapshot, features, quirks, stop, extended_resources=extended_resources
    )
    going = _Run(world, scenario, progress, partly)
    return going.go(count_always=count_always, goes_on=goes_on)


class _Run:
    def __init__(
        self,
        world: World,
        scenario: Scenario,
        progress: Report | None,
        partly: Partly | None,
    ) -> None:
        self.world = world
        self.scenario = scenario
        self.progress = progress
        self.partly = partly
        self.losses = Losses(world)
        self.complete = True
        self.placements: list[Placement] = []
        self.items: list[ItemResult] = []
        self.doing: ItemResult | None = None
        """The item that is being placed, as far as it is."""
        self.failures: list[Failure] = []
        self.moved: dict[ClaimKey, Placed | Refused] = {}
        self.stranded = Strandings(world)

    def go(self, *, count_always: bool, goes_on: bool) -> Simulation:
        self._edit()
        self.placer = Placer(self.world, self.scenario.policy)
        self.workload = Workload(self.world)
        self._move()
        for place in range(len(self.scenario.workload)):
            self.items.append(self._work(place))
            self.doing = None
        self._help()
        self._tell("counting", 0, 1)
        reasons = Reasons(self.placer, self.stranded.reasons())
        losses = tuple(self._losses(reasons))
        # Whoever was asked while the run was stopped may have said less than it knows.
        counted = not self._is_stopped() or count_always
        how_far: HowFar = "whole" if self.complete else "stopped"
        if goes_on and not self.complete:
            how_far = "so far"
        found = self._answer(losses, how_far, counted=counted)
        self._tell("counting", 1, 1)
        return found

    def _tell(self, step: Step, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(Progress(step, done, total))
        if self.partly is not None and step in ("moving", "placing", "helping"):
            self.partly(self._so_far)

    def _so_far(self) -> Simulation:
        losses = tuple(self._losses(None))
        return self._answer(losses, "so far", counted=True)

    def _answer(
        self, losses: tuple[Loss, ...], how_far: HowFar, *, counted: bool
    ) -> Simulation:
        world, scenario = self.world, self.scenario
        after = world.snapshot
        items = [*self.items, *([self.doing] if self.doing else [])]
        changed = Difference()
        if counted:
            changed = difference(
                world.before,
                after,
                features_before=world.features_before,
                features=world.features,
            )
        pools = tuple(pool_changes(world.before, after))
        complete = how_far == "whole"
        waits = any(loss.outcome in ("waits", "stays") for loss in losses)
        fits = (
            complete
            and not waits
            and not self.stranded.homeless
            and all(item.verdict == "fits" for item in items)
        )
        result = Result(
            sentence=outcomes.of_result(
                items=items,
                losses=losses,
                pools=pools,
                homeless=self.stranded.homeless,
                classes=changed_classes(world.before, after, changed.classes),
                how_far=how_far,
            ),
            fits=fits,
            complete=complete,
            seq=world.before.seq,
            scenario=scenario_hash(scenario),
            policy=scenario.policy,
            edits=tuple(map(sentences.of_edit, scenario.edits)),
            items=tuple(items),
            placements=tuple(self.placements),
            losses=losses,
            stranded=self.stranded.records(),
            pools=pools,
            difference=changed,
            notes=tuple(world.notes),
        )
        return Simulation(result, after)

    # --- the steps ---

    def _edit(self) -> None:
        editor, edits = Editor(self.world, self.losses), self.scenario.edits
        for place, edit in enumerate(edits):
            self._tell("editing", place, len(edits))
            editor.carry_out(edit, f"edits[{place}]")
        take_away(self.world, self.losses)

    def _move(self) -> None:
        """Everything that lost its place looks for another."""
        uprooted = self.losses.in_order()
        settled: list[Pod] = []
        for number, one in enumerate(uprooted):
            self._tell("moving", number, len(uprooted))
            if self._is_stopped():
                break
            unit = self._unit_of(one)
            found = self.placer.place(unit, expected=len(uprooted))
            if isinstance(found, Refused) and self._is_stopped():
                break
            for key in one.claims:
                self.moved[key] = found
            if isinstance(found, Placed):
                self.placements.append(placement_record(MOVED, found))
                settled += self._settled(found)
                continue
            lost = any(key in self.losses.lost for key in one.claims)
            self.stranded.add(found, only_its_node=not lost)
        if settled:
            self.world.edit(add=settled)

    def _settled(self, placed: Placed) -> list[Pod]:
        """Its pod as one that waits no more."""
        consumer = placed.unit.pod
        pod = find_pod(self.world.for_search, consumer) if consumer else None
        if pod is None:
            return []
        return [replace(pod, spec=replace(pod.spec, node_name=placed.node))]

    def _unit_of(self, one: Uprooted) -> Unit:
        pod = find_pod(self.world.for_search, one.pod) if one.pod else None
        if pod is not None:
            return self.workload.pods.again(pod, one.claims)
        claims = [c for key in one.claims if (c := self.world.claim(key))]
        name = one.pod.name if one.pod else one.claims[0][1]
        return Unit(name, one.pod, tuple(claims))

    def _work(self, place: int) -> ItemResult:
        work, path = self.scenario.workload[place], f"workload[{place}]"
        copies = self.workload.copies(work)
        item = ItemResult(place, sentences.of_work(work), copies, 0, "not tried")
        done: list[Unit] = []
        still: list[Stuck] = []
        settled: list[Pod] = []
        start = self.world.snapshot
        for batch in self.workload.batches(work, path):
            self.doing = item
            self._tell("placing", item.placed, copies)
            if self._is_stopped():
                break
            placed, stuck = self._place(batch, place, copies)
            if stuck and self._is_stopped():
                break
            if isinstance(work, Waiting):
                # Each pod that waits is a shape of its own: the next may fit.
                still += stuck
                settled += [pod for one in placed for pod in self._settled(one)]
                item = replace(item, placed=item.placed + len(placed))
                continue
            done += batch.units
            if stuck:
                hint = together_on_one_node(self.placer, done, start)
                return replace(self._refused(item, stuck[0]), hint=hint)
            item = replace(item, placed=item.placed + 1)
        if settled:
            self.world.edit(add=settled)
        if still:
            return self._first_of(item, still)
        return replace(item, verdict="fits") if item.placed == copies else item

    def _refused(self, item: ItemResult, stuck: Stuck) -> ItemResult:
        """With the reason, and kept for those who look for changes that would help."""
        refused = stuck.refused
        if refused.reason:
            return replace(item, verdict=refused.verdict, reason=refused.reason)
        snapshot = stuck.snapshot or self.world.snapshot
        explanation = self.placer.explain(refused.unit, snapshot=snapshot)
        if refused.verdict == "does not fit":
            self.failures.append(Failure(item.item, refused.unit, snapshot))
        return replace(
            item,
            verdict=refused.verdict,
            reason=explanation.sentence,
            explanation=explanation,
            asked=asked_claims(refused.unit),
            pod=refused.unit.pod.name if refused.unit.pod else "",
        )

    def _first_of(self, item: ItemResult, still: Sequence[Stuck]) -> ItemResult:
        """Of the pods that wait the first that lacks devices, or simply the first."""
        lacking = (one for one in still if one.refused.verdict == "does not fit")
        refused, snapshot = next(lacking, still[0])
        if snapshot is None:
            unit = self.workload.current(refused.unit)
            refused = dataclasses.replace(refused, unit=unit)
        item = self._refused(item, Stuck(refused, snapshot))
        return replace(item, reason=f"Pod {refused.unit.name}: {item.reason}")

    def _help(self) -> None:
        """Look for changes with which what moved, and the next of each item, would fit."""
        moving = list(self.stranded.failures())
        failures = [*moving, *self.failures[:MOST_HELPED]]
        for number, failure in enumerate(failures):
            self._tell("helping", number, len(failures))
            if self._is_stopped():
                return
            found = what_helps(self.placer, failure)
            if self._is_stopped():
                return
            if number < len(moving):
                self.stranded.explain(failure, found)
            else:
                item = self.items[failure.place]
                self.items[failure.place] = replace(item, explanation=found)

    def _place(
        self, batch: Batch, item: int, copies: int
    ) -> tuple[list[Placed], list[Stuck]]:
        """Place the units of a batch, those that fit or none."""
        units = batch.units
        least = len(units) if batch.least is None else batch.least
        start = self.world.snapshot if len(units) > 1 else None
        placed: list[Placed] = []
        stuck: list[Stuck] = []
        for unit in units:
            now = self.workload.current(unit)
            found = self.placer.place(now, expected=copies * len(units))
            if isinstance(found, Placed):
                placed.append(found)
                continue
            stuck.append(Stuck(found, self.world.snapshot if start else None))
            if len(units) - len(stuck) < least:
                break
        if len(placed) < least:
            if start is not None:
                self.placer.go_back(start, placed)
            return [], stuck
        self.placements += [placement_record(item, one) for one in placed]
        return placed, stuck

    def _is_stopped(self) -> bool:
        if self.world.stopped():
            self.complete = False
        return not self.complete

    # --- what is told beside ---

    def _losses(self, reasons: Reasons | None) -> list[Loss]:
        """Without ``reasons`` nobody says why something waits, which takes time."""
        found = []
        for key, lost in self.losses.lost.items():
            moved = self.moved.get(key)
            if isinstance(moved, Refused):
                now = self.workload.current(moved.unit)
                moved = dataclasses.replace(moved, unit=now)
            claim = self.world.claim(key)
            found.append(
                loss_record(
                    lost,
                    claim,
                    moved,
                    reasons,
                    complete=self.complete and reasons is not None,
                )
            )
        return found
