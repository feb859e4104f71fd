"""One instance in full, as `tidegate instances show --format json` and the server show it."""

import msgspec
from msgspec.structs import asdict

from tidegate.domain.value import Value
from tidegate.listings.instances import TaskInstance
from tidegate.listings.queries.instances import public_instance
from tidegate.listings.shown_job import JournalLine
from tidegate.scheduler.decision.instances.actions import status_of
from tidegate.scheduler.decision.view.partitions import written
from tidegate.scheduler.decision.view.upstream import diagnostics_of
from tidegate.scheduler.explain.history import Attempt, attempts, history_of
from tidegate.scheduler.explain.instances.awaited import (
    Awaited,
    awaited,
    consumers_of,
    status_since,
    upstream_of,
)
from tidegate.scheduler.model.instance import Diagnostic
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.load import load_apps


class Consumer(Value, kw_only=True):
    """An instance that waits, or has waited, for another one.

    Attributes:
        task: its task, "app/name".
        key: its scheduled time, as a key.
        job: its id as a job.
        status: its status.
        rule: by which its task picks the other one, for people.
    """

    task: str
    key: str
    job: str
    status: str
    rule: str


class ShownInstance(TaskInstance, kw_only=True):
    """An instance with everything that the store knows of it, beside the fields that lists have.

    Attributes:
        upstream: the instances that it waits for, or has waited for.
        diagnostics: its dependencies without one, or with holes.
        consumers: the instances that wait for it.
        partitions: what a run writes, by dataset.
        attempts: the run of each, and one that waits for the end of a pause.
        history: its entries of the journal, oldest first.
    """

    upstream: tuple[Awaited, ...]
    diagnostics: tuple[Diagnostic, ...]
    consumers: tuple[Consumer, ...]
    partitions: dict[str, tuple[str, ...]]
    attempts: tuple[Attempt, ...]
    history: tuple[JournalLine, ...]


class ChangedInstance(TaskInstance, kw_only=True):
    """An instance after an action of a person, with the fields that lists have.

    Attributes:
        changed: all instances that the action has changed, itself the first one.
    """

    changed: tuple[TaskInstance, ...]


def shown_instance(reader: EngineReader, job: Job) -> ShownInstance:
    """Return an instance in full."""
    upstream = upstream_of(reader, [job]).get(job.id, ())
    states = {state.ref: state for state in reader.schedules(refs=[job.schedule])}
    app = load_apps(reader, states.values()).get(job.app)
    history = history_of(reader, job)
    return ShownInstance(
        **asdict(public_instance(job, status_since(reader, job))),
        upstream=awaited(reader, upstream),
        diagnostics=diagnostics_of(upstream),
        consumers=tuple(
            Consumer(task=each.schedule, key=each.key, job=each.id, status=status_of(each), rule=rule)
            for each, rule in consumers_of(reader, job)
        ),
        partitions={}
        if app is None or job.of_task.empty
        else written(app, states[job.schedule].spec, job.of_task),
        attempts=tuple(attempts(reader, job)),
        history=msgspec.convert(history, tuple[JournalLine, ...], from_attributes=True),
    )
