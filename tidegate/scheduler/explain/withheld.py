"""Withheld: the materialisations that `checks: passed` does not count yet, with what holds them back.

And the publishes that a failed check of a dataset withholds: what a schedule listens to has not come because
of them.
"""

from collections.abc import Callable, Collection, Iterator, Sequence

from tidegate.domain.model import leaves
from tidegate.domain.part_name import app_of, whole_name
from tidegate.domain.withheld import WithheldCheck, WithheldOutput, WithheldPartition
from tidegate.scheduler.explain.explanation import Explanation
from tidegate.scheduler.explain.instant_text import instant_text
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.records.withheld import WITHHELD_EVENTS, CheckResult, WithheldEvent
from tidegate.scheduler.model.records.withheld_publish import WITHHELD_PUBLISHES, WithheldPublish
from tidegate.scheduler.store.engine_reader import EngineReader

WITHHELD_SHOWN = 20
"""So many of a dataset are explained, those that wait longest; a list has all."""

WITHHELD_READ = 10_000
"""The most of a list."""


def withheld_from(reader: EngineReader, state: ScheduleState) -> tuple[WithheldPartition, ...]:
    """Return what is withheld from a schedule, for each dataset what waits longest."""
    datasets = {
        whole_name(state.app, leaf.trigger.dataset_heard)
        for leaf in leaves(state.spec.trigger)
        if leaf.trigger.counts_checked and leaf.trigger.dataset_heard is not None
    }
    return tuple(each for name in sorted(datasets) for each in withheld_of(reader, name))


def withheld_of(reader: EngineReader, dataset: str) -> tuple[WithheldPartition, ...]:
    """Return what is withheld of a dataset ("app/name"): what waits longest first."""
    found = reader.due_records(WITHHELD_EVENTS, None, WITHHELD_SHOWN, dataset=dataset)
    return tuple(withheld_partition(each) for each in found)


def withheld_events(reader: EngineReader, apps: Collection[str] | None) -> Iterator[WithheldEvent]:
    """Yield all that is withheld of some apps; None: of all."""
    for each in reader.due_records(WITHHELD_EVENTS, None, WITHHELD_READ):
        if apps is None or app_of(each.dataset) in apps:
            yield each


def withheld_partition(record: WithheldEvent) -> WithheldPartition:
    """Return a record as all faces show it."""
    checks = tuple(_check(name, each, record) for name, each in record.lacking.items())
    said = [_said(each) for each in checks]
    if not record.ended:
        said = [f"run {record.run_id}, which made it, has not ended", *said]
    name = f"{record.dataset} {record.partition}".strip()
    return WithheldPartition(
        dataset=record.dataset,
        partition=record.partition,
        time=record.time,
        run_id=record.run_id or "",
        running=not record.ended,
        checks=checks,
        text=f"{name}: {'; '.join(said)}",
    )


def _check(name: str, result: CheckResult, record: WithheldEvent) -> WithheldCheck:
    if result.passed is None:
        return WithheldCheck(check=name, state="missing", description="", run_id=record.run_id or "")
    return WithheldCheck(check=name, state="failed", description=result.description, run_id=result.run_id)


def _said(check: WithheldCheck) -> str:
    run = f" (run {check.run_id})" if check.run_id else ""
    if check.state == "missing":
        return f"check {check.check} was not evaluated{run}"
    because = f": {check.description}" if check.description else ""
    return f"check {check.check} failed{because}{run}"


def outputs_for(
    reader: EngineReader, explained: Explanation, state: ScheduleState | None
) -> tuple[WithheldOutput, ...]:
    """Return the withheld publishes that an explanation is about.

    They are those of what a schedule listens to, or a job that waits for its trigger; those of the instances
    that an instance waits for; and of a failed job its own.
    """
    job = explained.job
    if job is None or (job.waiting and job.instance is None and job.satisfied_at is None):
        own = () if explained.failed is None else outputs_of_jobs(reader, (explained.failed.id,))
        return (*own, *(outputs_heard(reader, state) if state is not None else ()))
    waits_for = {each.job for each in (*explained.upstream, *explained.roots)} if job.waiting else set[str]()
    return outputs_of_jobs(reader, waits_for | {job.id})


def outputs_heard(reader: EngineReader, state: ScheduleState) -> tuple[WithheldOutput, ...]:
    """Return the withheld publishes of the datasets and programs that a schedule listens to, oldest first."""
    heard = [leaf.trigger for leaf in leaves(state.spec.trigger)]
    datasets = {whole_name(state.app, each.dataset_heard) for each in heard if each.dataset_heard is not None}
    runs = [found for each in heard if (found := each.runs_heard(state.spec.program)) is not None]
    programs = {whole_name(state.app, program) for program, _ in runs}
    return withheld_outputs(
        reader,
        lambda publish, job: (
            not datasets.isdisjoint(publish.datasets)
            or (job is not None and job.launch is not None and job.program in programs)
        ),
    )


def outputs_of_dataset(reader: EngineReader, dataset: str) -> tuple[WithheldOutput, ...]:
    """Return the withheld publishes that would write a dataset ("app/name"), oldest first."""
    return withheld_outputs(reader, lambda publish, _: dataset in publish.datasets)


def withheld_publishes(reader: EngineReader, apps: Collection[str] | None) -> tuple[WithheldPublish, ...]:
    """Return the withheld publishes into datasets of some apps, oldest first; None: of all."""
    rows = reader.due_records(WITHHELD_PUBLISHES, None, WITHHELD_READ)
    return tuple(row for row in rows if apps is None or any(app_of(ref) in apps for ref in row.datasets))


def publishes_with_jobs(
    reader: EngineReader, apps: Collection[str] | None, limit: int
) -> list[tuple[WithheldPublish, Job | None]]:
    """Return the oldest withheld publishes into datasets of some apps (None: of all), each with its job."""
    return _with_jobs(reader, withheld_publishes(reader, apps)[:limit])


def outputs_of_jobs(reader: EngineReader, jobs: Collection[str]) -> tuple[WithheldOutput, ...]:
    """Return the withheld publishes of some jobs (ids), oldest first."""
    rows = reader.records(WITHHELD_PUBLISHES, job=jobs) if jobs else ()
    return tuple(withheld_output(*each) for each in _with_jobs(reader, rows))


def withheld_outputs(
    reader: EngineReader, wanted: Callable[[WithheldPublish, Job | None], bool]
) -> tuple[WithheldOutput, ...]:
    """Return the withheld publishes that a function accepts of them and their jobs, oldest first."""
    rows = reader.due_records(WITHHELD_PUBLISHES, None, WITHHELD_READ)
    return tuple(withheld_output(*each) for each in _with_jobs(reader, rows) if wanted(*each))


def _with_jobs(
    reader: EngineReader, rows: Sequence[WithheldPublish]
) -> list[tuple[WithheldPublish, Job | None]]:
    jobs = {job.id: job for job in reader.jobs(ids={row.job for row in rows})} if rows else {}
    return [(row, jobs.get(row.job)) for row in rows]


def withheld_output(publish: WithheldPublish, job: Job | None) -> WithheldOutput:
    """Return a withheld publish as all faces show it.

    Args:
        job: whose work it is; None for a run that is of no job.
    """
    datasets, found = ", ".join(publish.datasets), failed_checks(publish)
    of = "" if job is None else f" of {job.schedule}" + (f"[{job.key}]" if job.key else "")
    return WithheldOutput(
        commit=publish.commit,
        job="" if job is None else job.id,
        schedule="" if job is None else job.schedule,
        key="" if job is None else job.key,
        datasets=publish.datasets,
        checks=tuple(each.name for each in publish.failed),
        since=publish.at,
        text=f"{datasets}{of} since {instant_text(publish.at)}, {found} (commit {publish.commit})",
    )


def failed_checks(publish: WithheldPublish) -> str:
    """Return what the failed checks of a publish have found, in one line."""
    return "; ".join(f"check {each.name}: {each.found}" for each in publish.failed)
