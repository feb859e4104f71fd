"""Observed instances: what `instance` and `instances` expectations compare, at the end of an instant."""

from datetime import date

import msgspec

from tidegate.compiler.scenarios.model.scenario import ExpectWithheld
from tidegate.compiler.scenarios.model.tasks import ExpectInstance, ExpectInstances, InstanceStatus
from tidegate.domain.part_name import name_in, whole_name
from tidegate.domain.tasks.grid import day_begins
from tidegate.domain.value import Value
from tidegate.scheduler.commands.tasks.instances import InstanceName, instance_named
from tidegate.scheduler.decision.instances.actions import status_of
from tidegate.scheduler.decision.view.upstream import diagnostics_of, edges_of
from tidegate.scheduler.explain.instances.awaited import is_recorded, upstream_of
from tidegate.scheduler.model.instance import Diagnostic, Edge
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.refused import InstanceRefused
from tidegate.scheduler.simulation.task_actions import number_of
from tidegate.scheduler.simulation.withheld import withheld_of
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.generate import ONE_DAY
from tidegate.scheduler.tick.upstream import MICROSECOND


class ObservedInstance(Value, kw_only=True):
    """An instance as it was at the end of an instant; `absent` has no other facts."""

    status: InstanceStatus
    reason: str | None = None
    empty: bool = False
    marked: bool = False
    attempt: int = 0
    business_date: str | None = None
    upstream: dict[str, tuple[str, ...]] = {}
    diagnostics: tuple[str, ...] = ()

    def differences(self, expected: ExpectInstance) -> list[str]:
        """Return what differs from an expectation, as the names of its keys."""
        if self.status == "absent" == expected.status:
            # It may be named by its business date, which is then no fact about it.
            expected = msgspec.structs.replace(expected, business_date=None)
        found = [
            name
            for name in ("status", "reason", "empty", "marked", "attempt", "business_date")
            if getattr(expected, name) is not None and getattr(expected, name) != getattr(self, name)
        ]
        if expected.diagnostic is not None and expected.diagnostic not in self.diagnostics:
            found.append("diagnostic")
        for task, keys in (expected.upstream or {}).items():
            if sorted(keys) != sorted(self.upstream.get(task, ())):
                found.append(f"upstream of {task}")
        return found

    def one_line(self) -> str:
        """Return the instance in one line."""
        parts: list[str] = [self.status, self.reason or ""]
        parts += [name for name in ("empty", "marked") if getattr(self, name)]
        if self.status != "absent":
            parts += [f"attempt {self.attempt}", f"business date {self.business_date}"]
        parts += [f"upstream {task}: [{', '.join(keys)}]" for task, keys in self.upstream.items()]
        return ", ".join(part for part in (*parts, *self.diagnostics) if part)


class ObservedCount(Value, kw_only=True):
    """The number of instances of a task on a day, and how many of them are empty runs."""

    count: int
    empty: int


class ObservedWithheld(Value, kw_only=True):
    """The jobs of a schedule whose publish is withheld at the end of an instant: their keys, sorted."""

    schedule: str
    keys: tuple[str, ...]

    def fits(self, expected: ExpectWithheld) -> bool:
        """Return whether it is as expected."""
        return bool(self.keys) if expected.key is None else expected.key in self.keys

    def one_line(self) -> str:
        """Return it in one line."""
        named = [f"{self.schedule}[{key}]" if key else self.schedule for key in self.keys]
        return f"withheld {', '.join(named)}" if named else f"nothing of {self.schedule} is withheld"


def observe_withheld(reader: EngineReader, app: str, expected: ExpectWithheld) -> ObservedWithheld:
    """Return what is withheld of the schedule that an expectation names."""
    found = withheld_of(reader, whole_name(app, expected.schedule), None)
    return ObservedWithheld(schedule=expected.schedule, keys=tuple(sorted({job.key for job, _ in found})))


def observe_instance(reader: EngineReader, app: str, expected: ExpectInstance) -> ObservedInstance:
    """Return the instance that an expectation names."""
    ref = whole_name(app, expected.task)
    state = next(iter(reader.schedules(refs=(ref,))), None)
    name = InstanceName(
        scheduled=expected.scheduled,
        business_date=expected.business_date,
        number=number_of(expected.scheduled, expected.number),
    )
    if state is None or (state.spec.task is None and not name.number):
        return ObservedInstance(status="absent")
    try:
        job = instance_named(reader, state, name)
    except InstanceRefused:
        return ObservedInstance(status="absent")
    edges, missing = upstream_of_instance(reader, job)
    upstream: dict[str, tuple[str, ...]] = {}
    for edge in edges:
        task = name_in(app, edge.task)
        upstream[task] = (*upstream.get(task, ()), edge.key)
    return _observed(job, upstream, missing)


def upstream_of_instance(reader: EngineReader, job: Job) -> tuple[tuple[Edge, ...], tuple[Diagnostic, ...]]:
    """Return the edges of an instance: as recorded, or as they are found while it is Not Run."""
    if is_recorded(job):
        return job.of_task.upstream, job.of_task.diagnostics
    found = upstream_of(reader, [job]).get(job.id, ())
    return edges_of(found), diagnostics_of(found)


def count_instances(reader: EngineReader, app: str, expected: ExpectInstances) -> ObservedCount:
    """Count the instances of a task whose scheduled time is on a day."""
    ref = whole_name(app, expected.task)
    state = next(iter(reader.schedules(refs=(ref,))), None)
    if state is None or state.spec.task is None:
        return ObservedCount(count=0, empty=0)
    task, day = state.spec.task, date.fromisoformat(expected.day)
    last = day_begins(task, day + ONE_DAY) - MICROSECOND
    jobs = reader.instances((ref,), day_begins(task, day), last)
    empty = sum(job.instance is not None and job.instance.empty for job in jobs)
    return ObservedCount(count=len(jobs), empty=empty)


def _observed(
    job: Job, upstream: dict[str, tuple[str, ...]], missing: tuple[Diagnostic, ...]
) -> ObservedInstance:
    instance = job.of_task
    return ObservedInstance(
        status=status_of(job).value,
        reason=None if job.reason is None else str(job.reason),
        empty=instance.empty,
        marked=instance.marked,
        attempt=instance.attempt,
        business_date=instance.business_date,
        upstream=upstream,
        diagnostics=tuple(each.code for each in missing),
    )
