"""A program that a person runs without the queue: what it runs for, and what must end before.

Such a run has no job: it takes no slot, and no trigger or constraint is asked. Two runs that write the same
partition are fenced by the commit log; here the second is refused before it has computed anything.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from tidegate.compiler import template
from tidegate.domain.model import App, Program
from tidegate.domain.nearest_key import key_hint, read_key
from tidegate.domain.partition_key import not_begun
from tidegate.scheduler.decision.launch.references import values_of
from tidegate.scheduler.model.job import Job, JobState, LaunchPlan
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.clock import effective_at

ACTIVE = (JobState.PENDING_LAUNCH, JobState.LAUNCHED)


def refuse_existing(app: App, program: Program) -> None:
    """Refuse a program that has no function to call: a job of a code location, which Dagster runs.

    Raises:
        Refused: with the ways to start it.
    """
    if program.existing is not None:
        ref = f"{app.name}/{program.name}"
        raise Refused(
            f"{ref} is {program.existing.title} of a code location, so it cannot run in this process",
            "`tidegate schedules trigger NAME` starts it; Dagster's UI launches it without a schedule",
        )


def check_keys(app: App, program: Program, keys: Sequence[str], now: datetime) -> None:
    """Refuse partitions that the program's outputs do not have now, and none where they have some.

    Raises:
        Refused: with the form of the keys.
    """
    schemes = {name: app.datasets[name].partitions for name in program.writes}
    for name, scheme in schemes.items():
        if scheme is None:
            continue
        if not keys:
            raise Refused(
                f"{app.name}/{name} has partitions, and no --key says which to write",
                key_hint(scheme),
            )
        for key in keys:
            read = read_key(scheme, key)
            if not isinstance(read, str):
                raise Refused(f"{app.name}/{name}: {read.summary}", read.hint)
            if not_begun(scheme, key, now):
                raise Refused(
                    f"{app.name}/{name}: the period of {key} has not begun",
                    "name a key whose period has begun, or wait for its begin",
                )
    if keys and not any(schemes.values()):
        raise Refused(f"the outputs of {app.name}/{program.name} have no partitions", "leave --key out")


def args_by_hand(reader: EngineReader, app: str, program: str, keys: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of a run without a job: those of a schedule of the program, an active one first.

    Such a run has no triggering event, so only the reference to the key may have a value.
    """
    mine = [state for state in reader.schedules(app=app) if state.spec.program == program]
    mine.sort(key=lambda state: (not state.active, state.ref))
    if not mine:
        return {}
    values = values_of(LaunchPlan(program=program), (), keys[0] if len(keys) == 1 else "")
    return template.render(mine[0].spec.args, values)


def refuse_beside_jobs(reader: EngineReader, app: App, program: Program, keys: Collection[str]) -> None:
    """Refuse a run beside a job that writes one of its partitions, or may have begun to.

    Raises:
        Refused: with the jobs.
    """
    writers = {name for name, each in app.programs.items() if set(each.writes) & set(program.writes)}
    writers.add(program.name)
    active = [
        job
        for job in reader.jobs(apps=(app.name,), states=ACTIVE)
        if job.launch is not None and job.launch.program in writers and _overlap(job, keys)
    ]
    if active:
        shown = ", ".join(f"job {job.id} ({job.state})" for job in active)
        raise Refused(
            f"{shown} of {active[0].schedule} writes what {app.name}/{program.name} would write",
            "wait for its end, or cancel it with `tidegate jobs cancel` or in the Dagster UI",
        )


def note_run_by_hand(
    transaction: EngineTransaction, run_id: str, app: str, program: str, keys: Sequence[str],
    args: Mapping[str, Any], now: datetime, by: By,
) -> None:  # fmt: skip
    """Write a run that begins into the journal."""
    at = effective_at(transaction, now, now)
    data = {"program": f"{app}/{program}", "keys": list(keys), "args": dict(args), **by.noted}
    transaction.add_journal([Entry(at=at, kind=EntryKind.RUN_BY_HAND, run_id=run_id, data=data)])


def _overlap(job: Job, keys: Collection[str]) -> bool:
    written = () if job.launch is None else job.launch.partitions
    return not written or not keys or bool(set(written) & set(keys))
