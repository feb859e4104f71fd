"""The stage: plays cases on the real Dagster, all at once, and each of them in the simulation too."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import msgspec
import pytest

from tests.real_daemon import runs, scripted_time
from tests.real_daemon.cases import Case
from tests.real_daemon.real_dagster import RealDagster
from tests.real_daemon.world import RealWorld
from tidegate.compiler.scenarios.model.scenario import Scenario
from tidegate.domain.value import Value
from tidegate.scheduler.model.job import LaunchPlan
from tidegate.scheduler.simulation.play import Performance, play
from tidegate.scheduler.simulation.world import Launches, SimulatedWorld, World
from tidegate.scheduler.store.protocol import Store


class Played(Value, kw_only=True):
    """A case that was played.

    Attributes:
        launches: what every run was launched with.
        faults: see `RealWorld.faults`; empty in the simulation.
    """

    performance: Performance
    launches: tuple[LaunchPlan, ...] = ()
    faults: tuple[str, ...] = ()


def play_real(cases: Sequence[Case], folder: Path) -> dict[str, Played | BaseException]:
    """Play all cases on one real Dagster; a case that breaks is the exception that broke it."""
    dagster = RealDagster(folder, [case.name for case in cases])
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(len(cases)) as pool:
        scripted_time.install(patch)
        runs.install(patch)
        played = {case.name: pool.submit(_play_on, dagster, case) for case in cases}
        try:
            dagster.start()
            return {name: future.exception() or future.result() for name, future in played.items()}
        finally:
            dagster.stop()


def _play_on(dagster: RealDagster, case: Case) -> Played:
    store = dagster.store(case.name)
    worlds: list[RealWorld] = []

    def world(_: Store, scenario: Scenario) -> World:
        dagster.deployed()
        worlds.append(RealWorld(dagster, case.name, store, scenario))
        return worlds[0]

    performance = play(case.scenario, case.compiled, store, case.read_file, world=world)
    launches = tuple(run.launch for run in worlds[0].launched)
    return Played(performance=performance, launches=launches, faults=tuple(worlds[0].faults))


def play_simulated(case: Case) -> Played:
    """Play a case as `tidegate test` does."""
    launches: list[LaunchPlan] = []

    class Noted(SimulatedWorld):
        def launch(self, now: datetime) -> Launches:
            made = super().launch(now)
            launches.extend(run.launch for run in made.runs)
            return made

    performance = play(
        case.scenario,
        case.compiled,
        read_file=case.read_file,
        world=lambda store, scenario: Noted(store, scenario.behaviours),
    )
    return Played(performance=performance, launches=tuple(launches))


def differences(real: Played, simulated: Played) -> list[str]:
    """Return what only one of two performances has, of the timeline and of what was launched."""
    found = [f"Dagster: {text}" for text in _facts(real) if text not in _facts(simulated)]
    found += [f"simulated: {text}" for text in _facts(simulated) if text not in _facts(real)]
    return found


def _facts(played: Played) -> list[str]:
    moments = [msgspec.structs.replace(moment, job=None) for moment in played.performance.moments]
    launches = [_comparable(launch) for launch in played.launches]
    return [msgspec.json.encode(fact).decode() for fact in (*moments, *launches)]


def _comparable(launch: LaunchPlan) -> LaunchPlan:
    """Leave out what must differ: ids of runs, and sizes of what a run wrote, unknown to a simulation."""
    sizes = {
        dataset: {
            key: msgspec.structs.replace(found, rows=found.rows or None, bytes=found.bytes or None)
            for key, found in keys.items()
        }
        for dataset, keys in launch.sizes.items()
    }
    upstream = tuple(msgspec.structs.replace(run, id="") for run in launch.upstream)
    return msgspec.structs.replace(launch, upstream_runs=(), upstream=upstream, sizes=sizes)
