"""What the run of this process needs of a code location: a run executes one program, or one job of ours.

Dagster reconstructs the whole code location in the process of each run, and selects the assets of the run
afterwards. A launcher that knows the run says so before, and only that is built: the cost of a run does not
grow with the location.
"""

from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from dagster import AssetKey

from tidegate.dagster_defs.deployed.asset_plan import AssetPlan, ProgramAssets
from tidegate.dagster_defs.deployed.names import ALL_ASSETS_JOB, MAINTENANCE, MEASURING, RECOVERY
from tidegate.domain.model import Dataset

OUR_JOBS = frozenset({RECOVERY, MAINTENANCE, MEASURING})
"""Jobs without assets."""


@dataclass(frozen=True)
class RunScope:
    """A run, as far as its definitions are concerned.

    Attributes:
        assets: the assets that it materialises; None where that cannot be said.
    """

    assets: frozenset[AssetKey] | None

    @property
    def apps(self) -> frozenset[str] | None:
        """The apps of the run's programs; None for a run that needs all, as jobs without assets do."""
        return frozenset(key.path[0] for key in self.assets) if self.assets else None

    def programs(self, plan: AssetPlan) -> tuple[ProgramAssets, ...]:
        """Return the programs whose assets are to be built."""
        if self.assets is None:
            return tuple(plan.programs.values())
        return tuple(plan.programs_of(self.assets))

    def external(self, plan: AssetPlan) -> Iterator[tuple[str, Dataset]]:
        """Yield the datasets that are shown without a program, with their app's name."""
        if self.assets is None:
            yield from plan.external()
            return
        programs = self.programs(plan)
        written = {key for program in programs for key in program.keys}
        read = {key: dataset for program in programs for key, dataset in program.reads.items()}
        for key, dataset in sorted(read.items()):
            if key not in written and not dataset.asset:
                yield key.path[0], dataset


EVERYTHING = RunScope(assets=None)

_scope: ContextVar[RunScope] = ContextVar("tidegate_run_scope", default=EVERYTHING)


def scope_of(job: str, selection: Collection[AssetKey] | None) -> RunScope:
    """Return what a run of a job needs.

    Args:
        selection: the assets that the run selects; None or empty for the whole job.
    """
    if job in OUR_JOBS:
        return RunScope(assets=frozenset())
    if job == ALL_ASSETS_JOB and selection:
        return RunScope(assets=frozenset(selection))
    return EVERYTHING


def current_scope() -> RunScope:
    """Return what the run of this process needs; everything, where that is not known."""
    return _scope.get()


@contextmanager
def run_scope(scope: RunScope) -> Generator[None]:
    """Build only what one run needs while the block runs."""
    token = _scope.set(scope)
    try:
        yield
    finally:
        _scope.reset(token)
