"""A check of all outputs of incremental programs, for the recovery job: have they lost rows?

It needs a Spark session where a table is in a catalog, so it runs each few hours, and looks at a limited
number of programs each time. A table that cannot be read is logged and hides no other one.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.plan_state import Plan, deployed_plan
from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.model import App, Program
from tidegate.domain.part_name import whole_name
from tidegate.scheduler.intake.table_checks import (
    LostRowsFound,
    TableChecks,
    note_table_checks,
    table_checks,
)
from tidegate.spark_jobs.datasets.dataset_ref import dataset_ref
from tidegate.spark_jobs.errors import SparkJobError
from tidegate.spark_jobs.incremental.lost_rows import lost_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAMS_A_CHECK = 200


def is_due(location: Location, commits: CommitStepStore) -> bool:
    """Return whether the outputs are to be checked; first some hours after it was asked first."""
    store, now = location.open_store(), location.clock()
    with store.reading() as reader:
        noted = table_checks(reader, location.project)
        if noted is not None and not noted.is_due(now):
            return False
        plan = deployed_plan(reader, location.project)
    readers = {consumer for consumer, _ in commits.followers()}
    if not any(name in readers for name in _programs(plan)) and not (noted and noted.lost):
        return False
    if noted is None:
        note_table_checks(store, location.project, TableChecks(at=now))
    return noted is not None


def check_tables(
    location: Location,
    commits: CommitStepStore,
    spark: "Callable[[], SparkSession]",
    warn: Callable[[str], None],
) -> int:
    """Check the next programs, note what was found, and return the number of watermarks without rows."""
    store, now = location.open_store(), location.clock()
    with store.reading() as reader:
        before = table_checks(reader, location.project) or TableChecks(at=now)
        programs = _programs(deployed_plan(reader, location.project))
    left = [name for name in sorted(programs) if name > before.after]
    found: dict[str, Sequence[LostRowsFound]] = {}
    for name in left[:PROGRAMS_A_CHECK]:
        try:
            found[name] = _found(location, commits, spark, *programs[name])
        except (SparkJobError, OSError) as error:
            warn(f"the outputs of {name} could not be checked: {error}")
    after = left[PROGRAMS_A_CHECK - 1] if len(left) > PROGRAMS_A_CHECK else ""
    checks = before.with_programs(found, tuple(programs), after, now)
    note_table_checks(store, location.project, checks)
    for one in checks.lost:
        warn(f"the watermark of {one.where}: {one.fact}; {one.remedy}")
    return len(checks.lost)


def _programs(plan: Plan) -> dict[str, tuple[App, Program]]:
    """Return the programs that read incrementally and write tables, by "app/program"."""
    return {
        f"{loaded.app.name}/{program.name}": (loaded.app, program)
        for loaded in plan.apps
        for program in loaded.app.programs.values()
        if program.incremental and program.writes
    }


def _found(
    location: Location,
    commits: CommitStepStore,
    spark: "Callable[[], SparkSession]",
    app: App,
    program: Program,
) -> list[LostRowsFound]:
    consumer = f"{app.name}/{program.name}"
    outputs = [dataset_ref(app.name, app.datasets[name]) for name in program.writes]
    sources = [whole_name(app.name, name) for name in program.incremental]
    return [
        LostRowsFound(
            consumer=consumer, where=one.where, output=outputs[0].id, fact=one.fact, remedy=one.remedy
        )
        for one in lost_rows(
            commits, location.warehouse, spark, consumer=consumer, sources=sources, outputs=outputs
        )
    ]
