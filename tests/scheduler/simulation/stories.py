"""The stories of `schedules/stories`, compiled once, and their scenarios by name."""

from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tidegate.compiler.compile import Compilation, CompiledApp
from tidegate.compiler.scenarios.model.scenario import Scenario
from tidegate.project.yaml_files import compile_paths
from tidegate.scheduler.simulation import play as playing
from tidegate.scheduler.simulation.expectation import judge
from tidegate.scheduler.simulation.play import Performance, play

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "schedules" / "stories"
ORIGINAL = "original_scenarios"


@lru_cache(maxsize=1)
def compilation() -> Compilation:
    return compile_paths([FOLDER], ROOT, drafts=[FOLDER])


@lru_cache(maxsize=1)
def scenarios() -> dict[str, tuple[CompiledApp, Scenario]]:
    """Every scenario with its app, by the app's name and its own."""
    return {
        f"{name}: {scenario.name}": (app, scenario)
        for name, app in sorted(compilation().apps.items())
        for scenario in app.scenarios
    }


def reader_of(app: CompiledApp) -> Callable[[str], bytes]:
    """Return what reads the files beside that of an app, for examples that deploy them."""
    return lambda name: ((ROOT / app.file).parent / name).read_bytes()


class Judged(NamedTuple):
    """What the judge of a scenario was given."""

    scenario: Scenario
    moments: Any
    snapshots: Any
    zone: str
    states: Any
    tasks: Any = frozenset()


class Played(NamedTuple):
    """A scenario as it plays undisturbed, and what its judge was given."""

    performance: Performance
    judged: Judged


@cache
def played(name: str) -> Played:
    """Play a scenario once for all tests of this process."""
    seen: list[Judged] = []

    def recorder(*given: Any) -> Any:
        seen.append(Judged(*given))
        return judge(*given)

    app, scenario = scenarios()[name]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(playing, "judge", recorder)
        performance = play(scenario, app, read_file=reader_of(app))
    (judged,) = seen
    return Played(performance, judged)
