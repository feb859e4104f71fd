"""What the process of a run builds before its op, by the size of the code location: processor time.

Beside it the whole location, as each run process of Dagster's default launcher builds it before it selects
the assets of its run. Both get the plan as Dagster hands it to them, with the run. Each is a process of its
own that has imported everything; what counts is the time from the definitions to the job of the run.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dagster import AssetKey

from benchmarks.aims import verdict
from benchmarks.location import deployed_programs
from tidegate.project.location import location_of

SIZES = (100, 1_000, 10_000)
WAYS = ("its own program", "the whole location")
RATIO_LIMIT = 3.0
"""Of a run in the largest location to one in the smallest, by Tidegate's launcher."""


def main() -> int:
    """Measure, print, and return 1 if the cost of a run grows with its location."""
    seconds: dict[tuple[str, int], float] = {}
    for size in SIZES:
        for way in WAYS:
            printed = subprocess.run(
                [sys.executable, "-m", "benchmarks.run_process", str(size), way],
                check=True,
                capture_output=True,
                text=True,
            )
            seconds[way, size] = float(printed.stdout.split()[-1])
        ours, whole = (seconds[way, size] for way in WAYS)
        print(
            f"{size:>6,} schedules: a run builds {ours:6.3f} s, the whole location {whole:6.2f} s", flush=True
        )
    ratio = seconds[WAYS[0], SIZES[-1]] / seconds[WAYS[0], SIZES[0]]
    return verdict(f"a run among {SIZES[-1]:,} schedules against {SIZES[0]:,}", ratio, RATIO_LIMIT)


def measure(schedules: int, way: str) -> None:
    """Build what one run needs in this process, and print the seconds."""
    from dagster._core.definitions.repository_definition import RepositoryLoadData

    from tidegate.dagster_defs.definitions import definitions
    from tidegate.dagster_defs.definitions.definitions import build_definitions
    from tidegate.dagster_defs.definitions.run_scope import EVERYTHING, run_scope, scope_of
    from tidegate.dagster_defs.deployed.names import ALL_ASSETS_JOB
    from tidegate.dagster_defs.internals.load_context import DefinitionsLoadContext, DefinitionsLoadType

    with tempfile.TemporaryDirectory() as folder:
        settings, store = deployed_programs(Path(folder), schedules)
        location = location_of(settings)
        context = DefinitionsLoadContext(DefinitionsLoadType.INITIALIZATION)
        with DefinitionsLoadContext.scoped(context):
            build_definitions(location)
        shipped = RepositoryLoadData(
            reconstruction_metadata=dict(context.get_pending_reconstruction_metadata())
        )
        store.close()
        definitions._built_here.clear()
        asset = AssetKey(["app_0", "of_by_data_0"])
        scope = scope_of(ALL_ASSETS_JOB, [asset]) if way == WAYS[0] else EVERYTHING
        again = DefinitionsLoadContext(DefinitionsLoadType.RECONSTRUCTION, repository_load_data=shipped)
        began = time.process_time()
        with DefinitionsLoadContext.scoped(again), run_scope(scope):
            repository = build_definitions(location).get_repository_def()
            repository.get_maybe_subset_job_def(ALL_ASSETS_JOB, None, {asset}, None)
        print(time.process_time() - began)


if __name__ == "__main__":
    measure(int(sys.argv[1]), sys.argv[2])
