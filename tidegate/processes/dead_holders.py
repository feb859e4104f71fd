"""The runs behind what a job waits for whose process is dead or silent, for `tidegate why`.

The engine knows runs, not processes. Where the process of a run has ended, or gives no sign of life, its slot
is not free yet: the next look of a dispatcher releases it, of a process elsewhere when its lease ends.
"""

from datetime import datetime, timedelta

import msgspec

from tidegate.scheduler.explain.explanation import DeadHolder, Explanation
from tidegate.scheduler.explain.holders import holders
from tidegate.scheduler.explain.instant_text import instant_text
from tidegate.scheduler.launch.owners import RunOwner, owners
from tidegate.scheduler.model.run import Run
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.spark_jobs.commit.lease import LEASE, RENEWALS_PER_LEASE
from tidegate.spark_jobs.commit.process import ProcessState, shown, state_of

SILENT = LEASE / RENEWALS_PER_LEASE + timedelta(seconds=20)
"""A living process renews its lease sooner, even on a busy machine."""

AT_THE_NEXT_LOOK = "a dispatcher releases it within 30 s; if the scheduler does not run, start it"


def with_dead(explanation: Explanation, reader: EngineReader, now: datetime) -> Explanation:
    """Return the explanation with the runs that it waits for and whose process is dead or silent."""
    known = owners(reader)
    found = [
        _dead(resource, run, known[_run_id(run)], now)
        for resource, run in holders(reader, explanation)
        if _run_id(run) in known
    ]
    return msgspec.structs.replace(explanation, dead=tuple(each for each in found if each is not None))


def _dead(resource: str | None, run: Run, owner: RunOwner, now: datetime) -> DeadHolder | None:
    """Return what is wrong with the process of a run; None if it is well."""
    since = owner.until - LEASE
    match state_of(owner.process):
        case ProcessState.ENDED:
            state, freed = "has ended", AT_THE_NEXT_LOOK
        case _ if now < since + SILENT:
            return None
        case ProcessState.ALIVE:
            state = "is alive and does not renew its lease: it, or its Spark, hangs"
            freed = "end the process, or the run in Dagster"
        case ProcessState.UNKNOWN if now >= owner.until:
            state, freed = "is on another machine, and its lease has ended", AT_THE_NEXT_LOOK
        case ProcessState.UNKNOWN:
            state = "is on another machine, and gives no sign of life"
            freed = f"its lease ends at {instant_text(owner.until)}; then a dispatcher releases it"
    return DeadHolder(
        resource=resource,
        run_id=_run_id(run),
        of=f"job {run.job}" if run.job is not None else run.program,
        process=shown(owner.process),
        state=state,
        since=since,
        freed=freed,
    )


def _run_id(run: Run) -> str:
    """Return the id in Dagster: a run of several programs is several runs to the engine, "id/app/program"."""
    return run.run_id.partition("/")[0]
