"""Explanations with the facts that the engine does not know: blocked outputs, dead processes, addresses.

`tidegate why` prints them, and the server answers with them. The past is read from the journal, which has
what the engine knew then.

The blocked outputs of a schedule's program, for `tidegate why`. The engine does not check commits before a
launch; a run with a blocked output fails immediately. `tidegate why` therefore shows the blocked outputs
too.

The runs behind what a job waits for whose process is dead or silent, for `tidegate why`. The engine knows
runs, not processes. Where the process of a run has ended, or gives no sign of life, its slot is not free
yet: the next look of a dispatcher releases it, of a process elsewhere when its lease ends.
"""

import json
from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec

from tidegate.domain.error import WrongUsage
from tidegate.domain.part_name import Ref
from tidegate.domain.time.instant import instant_of
from tidegate.processes.server_address import run_address
from tidegate.project.settings.settings import Settings
from tidegate.scheduler.explain.explanation import BlockedDataset, DeadHolder, Explanation
from tidegate.scheduler.explain.holders import holders
from tidegate.scheduler.explain.instant_text import instant_text
from tidegate.scheduler.launch.owners import RunOwner, owners
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.run import Run
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.engine_rows import record
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.sql.store import SqlStore


def with_blocked(explanation: Explanation, store: Store, reader: EngineReader) -> Explanation:
    """Return the explanation with the datasets that a run of its program could not write now."""
    if not isinstance(store, SqlStore):
        return explanation
    commits = SqlCommitStepStore(store.engine)
    found = [each for dataset in _written(explanation, reader) for each in _blocked(commits, dataset)]
    return msgspec.structs.replace(explanation, blocked=tuple(found))


def _written(explanation: Explanation, reader: EngineReader) -> tuple[str, ...]:
    """Return the outputs of its program as "app/dataset"."""
    name, _ = Ref.of(explanation.schedule)
    app = record(reader, APPS, name=name)
    state = next(iter(reader.schedules(refs=[explanation.schedule])), None)
    if app is None or state is None:
        return ()
    program = app.app.programs.get(state.spec.program)
    return () if program is None else tuple(f"{name}/{dataset}" for dataset in program.writes)


def _remedy(commits: SqlCommitStepStore, commit: str, dataset: str) -> str:
    from tidegate.spark_jobs.commit.sequence import is_watermark_resource

    remedy = f"tidegate commits show {commit}, then recover or abandon it"
    try:
        written: list[str] = json.loads(commits.get(commit) or "{}").get("datasets", [])
    except ValueError:
        return remedy
    if any(name != dataset and not is_watermark_resource(name) for name in written):
        return f"{remedy}, or only its lost outputs: tidegate commits abandon {commit} --output DATASET"
    return remedy


def _blocked(commits: SqlCommitStepStore, dataset: str) -> tuple[BlockedDataset, ...]:
    found = [(commit, commits.recovery_state(commit)) for commit in commits.list_unfinished(dataset)]
    if not found:
        return ()
    # What runs do is loaded where a run has left something: the other answers have no part of it.
    from tidegate.spark_jobs.commit.recovery import is_blocked

    return tuple(
        BlockedDataset(
            dataset=dataset,
            commit=commit,
            error=state.error,
            remedy=_remedy(commits, commit, dataset),
        )
        for commit, state in found
        if state is not None and is_blocked(state)
    )


BUSY = timedelta(seconds=20)
"""By so much a living process on a busy machine renews its lease late."""

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
    from tidegate.spark_jobs.commit.lease import LEASE, RENEWALS_PER_LEASE
    from tidegate.spark_jobs.commit.process import ProcessState, shown, state_of

    since = owner.until - LEASE
    silent = LEASE / RENEWALS_PER_LEASE + BUSY
    match state_of(owner.process):
        case ProcessState.ENDED:
            state, freed = "has ended", AT_THE_NEXT_LOOK
        case _ if now < since + silent:
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


Explain = Callable[[EngineReader, datetime], tuple[Explanation, ...]]
"""Explains something in a store at an instant."""


def explained(
    store: Store, present: EngineReader, explain: Explain, now: datetime, at: datetime | None = None
) -> tuple[Explanation, ...]:
    """Return explanations of the present, or of a past moment."""
    if at is not None:
        # It brings the fold of the journal and the store in memory, which the present does not need.
        from tidegate.scheduler.explain.past.store_at import store_at

        with store_at(present, at).reading() as past:
            return explain(past, at)
    blocked = (with_blocked(each, store, present) for each in explain(present, now))
    return tuple(with_dead(each, present, now) for each in blocked)


def address_of(settings: Settings, explanation: Explanation) -> str:
    """Return the page of the explained run in the Dagster UI; "" without one."""
    shown = explanation.failed or explanation.job
    return run_address(settings, None if shown is None else shown.run_id)


def past_instant(text: str, now: datetime, name: str = "--at") -> datetime:
    """Parse a past moment.

    Raises:
        WrongUsage: the text is not an instant with a zone, or is in the future.
    """
    moment = instant_of(text, name)
    if moment > now:
        raise WrongUsage(f"{name} must be in the past, got {text}", "omit it to explain the present")
    return moment
