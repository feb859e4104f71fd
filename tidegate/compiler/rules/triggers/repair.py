"""The rules for `repair`: what can be repaired, and what would be launched alone without it.

A repair replaces the result of the job before it: it sees the events of both. So its outputs must be
replaced, its key must be one of `for_each`, and one job must have all events of a key. An output that
another program reads incrementally is replaced under that program, which then reads it again or not at all.

Without `repair` the part that comes after a `wait_at_most` is launched alone. Where the run overwrites its
output, the last hour of a day would replace the day.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.duration import duration_text
from tidegate.domain.model import App, At, Composite, Program, Repair, Schedule, Trigger
from tidegate.domain.part_name import is_of_other, whole_name

OVERWRITTEN = ("overwrite_partitions", "full")
"""Write modes by which a run replaces what an earlier run has written."""


def check_repair(schedule: Schedule, program: Program, scope: Scope) -> None:
    """Report a `repair` that cannot repair; warn of a wait after which a late part is launched alone."""
    if schedule.repair is None:
        _check_late_part(schedule, program, scope)
        return
    fault = _fault(schedule, program, scope)
    if fault is not None and schedule.repair.at is not None:
        scope.findings.add("L490", schedule.repair.at, *fault)


def _fault(schedule: Schedule, program: Program, scope: Scope) -> tuple[str, str] | None:
    """Return why a schedule cannot be repaired, with a hint; None if it can."""
    if schedule.for_each is None:
        return (
            "`repair` is about the jobs of a key, got a schedule without `for_each`",
            "write for example for_each: partition, or delete `repair`",
        )
    outputs = program.outputs(scope.datasets)
    appended = next((each.name for each in outputs if each.write_mode() == "append"), None)
    if appended is not None:
        return (
            f"a repair replaces the rows of the job before, got {appended}, which is written by `append`",
            "write overwrite_partitions or merge for the dataset, or delete `repair`",
        )
    if program.incremental:
        source = next(iter(program.incremental))
        return (
            f"a repair reads its input again, got {program.name}, which reads {source} incrementally",
            f"read all of {source}, or delete `repair`",
        )
    if schedule.batching == "each":
        return (
            "a repair has all events of its key, got `batching: each`, which gives each its own job",
            "delete `batching`, or delete `repair`",
        )
    if schedule.max_batch is not None:
        return (
            "a repair has all events of its key, got `max_batch`, which opens further jobs",
            "delete `max_batch`, or delete `repair`",
        )
    return None


def _check_late_part(schedule: Schedule, program: Program, scope: Scope) -> None:
    waiting = next(_waiting(schedule.trigger), None)
    replaced = [each for each in program.outputs(scope.datasets) if each.write_mode() in OVERWRITTEN]
    if schedule.for_each is None or waiting is None or not replaced:
        return
    place, wait = waiting
    if place is not None:
        scope.findings.add(
            "L491",
            place,
            f"what comes after a `wait_at_most` is launched alone, got {duration_text(wait)} without"
            f" `repair`, and {replaced[0].name} is overwritten",
            "add `repair: true` to the schedule: the late part then sees what had come before",
        )


def _waiting(trigger: Trigger) -> Iterator[tuple[At | None, timedelta]]:
    """Yield each part of a trigger that has a `wait_at_most`, the whole first."""
    if trigger.wait_at_most is not None:
        yield trigger.at, trigger.wait_at_most
    for member in trigger.of if isinstance(trigger, Composite) else ():
        yield from _waiting(member)


def check_repairs(apps: Iterable[App], findings: Mapping[str, Findings], kept: timedelta | None) -> None:
    """Warn of repaired outputs that are read incrementally; report bounds beyond what the store keeps.

    Args:
        apps: every app that is known.
        findings: of the apps of files, by name.
        kept: how long finished jobs are kept; None without end.
    """
    known = tuple(apps)
    readers = dict(_incremental_readers(known))
    for app in known:
        for schedule in app.schedules.values() if app.name in findings else ():
            repair, program = schedule.repair, app.programs.get(schedule.program)
            if repair is None or repair.at is None or program is None:
                continue
            read = [name for name in program.writes if whole_name(app.name, name) in readers]
            if read:
                findings[app.name].add(
                    "L492",
                    repair.at,
                    f"who reads an output incrementally does not see what a repair replaces, got {read[0]},"
                    f" which {readers[whole_name(app.name, read[0])]} reads so",
                    f"let that program read all of {read[0]}, or delete `repair`",
                )
            _check_kept(repair, repair.at, kept, findings[app.name])


def _incremental_readers(apps: Iterable[App]) -> Iterator[tuple[str, str]]:
    for app in apps:
        for program in app.programs.values():
            for name in () if is_of_other(program.name) else program.incremental:
                yield whole_name(app.name, name), f"{app.name}/{program.name}"


def _check_kept(repair: Repair, place: At, kept: timedelta | None, findings: Findings) -> None:
    if kept is not None and repair.within > kept:
        findings.add(
            "L493",
            place,
            f"a repair reads the events of the job before it, got `within: {duration_text(repair.within)}`,"
            f" and finished jobs are kept for {duration_text(kept)}",
            f"write {duration_text(kept)} or less, or a longer `finished_jobs` under [retention] in"
            " tidegate.toml",
        )
