"""The warning for programs that read what they overwrite or merge, and of which two runs may be active.

Of two such runs that have read the same rows, the one that publishes last fails with a conflict and is run
again: it would take away what the other has published. With `concurrency: {max: 1}` they wait for each other.
"""

from collections.abc import Mapping, Sequence

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.domain.model import App, ConcurrencyConstraint, Program, Schedule
from tidegate.domain.wording import shown

REPLACES = ("overwrite_partitions", "merge", "full")
"""Write modes that take rows away."""


def check_own_output(app: App, findings: Findings) -> None:
    """Warn of each schedule that may launch such a program while a run of it is active."""
    runners: dict[str, list[Schedule]] = {}
    for schedule in app.schedules.values():
        runners.setdefault(schedule.program, []).append(schedule)
    for program in app.programs.values():
        own = _own_output(app, program)
        for schedule in runners.get(program.name, ()) if own is not None else ():
            if schedule.at is None or _waits(schedule, runners[program.name]) or _in_turn(schedule, runners):
                continue
            findings.add(
                "L418",
                schedule.at,
                f"{program.name} reads {own} and replaces its rows, so one run of it may be active at a time,"
                f" got {shown(schedule.name)} without a limit",
                "add the constraint concurrency: {max: 1}",
            )


def _own_output(app: App, program: Program) -> str | None:
    """Return the first dataset that a program reads and replaces."""
    for name in program.writes:
        dataset = app.datasets.get(name)
        if name in program.reads and dataset is not None and dataset.write_mode() in REPLACES:
            return name
    return None


def _waits(schedule: Schedule, runners: Sequence[Schedule]) -> bool:
    """Return whether a schedule launches no run while another run of its program is active.

    A limit without a group counts all runs of the program; one with a group those of the group.
    """
    return any(
        limit.group is None or all(limit.group in _groups(other) for other in runners)
        for limit in schedule.constraints
        if isinstance(limit, ConcurrencyConstraint) and limit.max == 1
    )


def _in_turn(schedule: Schedule, runners: Mapping[str, Sequence[Schedule]]) -> bool:
    """Return whether a task is alone with its program and waits for its own previous instance."""
    task = schedule.task
    own = task is not None and any(each.itself for each in task.depends_on)
    return own and len(runners[schedule.program]) == 1


def _groups(schedule: Schedule) -> frozenset[str | None]:
    return frozenset(
        limit.group for limit in schedule.constraints if isinstance(limit, ConcurrencyConstraint)
    )
