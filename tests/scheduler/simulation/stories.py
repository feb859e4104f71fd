"""The stories of `schedules/stories`, compiled once, and their scenarios by name."""

from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path

from tidegate.compiler.compile import Compilation, CompiledApp
from tidegate.compiler.scenarios.scenario import Scenario
from tidegate.project.yaml_files import compile_paths
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


@cache
def performance(name: str) -> Performance:
    """A scenario as it plays undisturbed."""
    app, scenario = scenarios()[name]
    return play(scenario, app, read_file=reader_of(app))
