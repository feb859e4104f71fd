"""Backfills as text: how far they are, by business date or by task."""

from collections.abc import Sequence

import typer

from tidegate.cli.printing import instant, print_line, print_table
from tidegate.domain.wording import plural
from tidegate.scheduler.commands.tasks.backfills import Backfill, Progress
from tidegate.scheduler.explain.instances.backfill_facts import state_of

COUNTS = ("all", "done", "running", "failed", "waiting", "paused")
"""Columns of numbers; `waiting` are all that have not begun."""


def numbers(counts: dict[str, int], total: int) -> list[str]:
    """Return the numbers of `COUNTS`."""
    found = [
        total,
        counts.get("successful", 0),
        counts.get("running", 0),
        counts.get("failed", 0),
        counts.get("not_run", 0) + counts.get("waiting", 0),
        counts.get("paused", 0),
    ]
    return [str(number) for number in found]


def row(progress: Progress) -> list[str]:
    """Return a backfill as a row: its number, what it is of, its dates, lot, state and numbers."""
    each = progress.backfill
    of = f"app {each.app}" if each.task is None else _task(progress)
    dates = f"{each.from_} to {each.to}"
    return [
        str(each.number),
        of,
        dates,
        str(each.lot),
        state_of(progress),
        *numbers(progress.counts, progress.total),
    ]


def _task(progress: Progress) -> str:
    each = progress.backfill
    ref = each.task if "/" in (each.task or "") else f"{each.app}/{each.task}"
    others = sum(task != ref for task in each.tasks)
    return f"{ref} and {plural(others, 'other task')}" if others else str(ref)


def print_started(progress: Progress, held: Sequence[str]) -> None:
    """Print a backfill that was just started.

    Args:
        held: its suspended tasks.
    """
    each = progress.backfill
    print_line(
        f"backfill {each.number} is started: {plural(progress.total, 'instance')} of "
        f"{plural(len(each.tasks), 'task')}, business dates {each.from_} to {each.to}, "
        f"in lots of {plural(each.lot, 'date')}"
    )
    print_line(_place(each))
    _print_disabled(each)
    for task in held:
        print_line(f"{task} is suspended: its instances wait until `tidegate schedules resume {task}`")
    print_line(f"follow it with: tidegate backfill status {each.number}")


def _place(backfill: Backfill) -> str:
    """Return the place of its instances among the ready jobs."""
    if backfill.priority is None:
        return "its instances start when no other job is ready for their slots; `--priority` changes that"
    return f"its instances have priority {backfill.priority}"


def _print_disabled(backfill: Backfill) -> None:
    for task in backfill.disabled:
        print_line(f"{task} is disabled: it has no instances here, and no other task waits for it")


def print_progress(progress: Progress, parts: dict[str, dict[str, int]], of: str) -> None:
    """Print how far a backfill is, as a whole and in parts."""
    each, done = progress.backfill, progress.counts["successful"]
    percent = f" ({100 * done // progress.total} %)" if progress.total else ""
    print_line(
        f"backfill {each.number} of {row(progress)[1]}: {state_of(progress)}, {done} of {progress.total} "
        f"done{percent}, {progress.counts['running']} running, {progress.counts['failed']} failed"
    )
    print_line(f"requested {instant(each.requested_at)} by {each.by}, lots of {plural(each.lot, 'date')}")
    print_line(_place(each))
    _print_disabled(each)
    typer.echo()
    column = "business date" if of == "date" else of
    rows = [[name, *numbers(counts, sum(counts.values()))] for name, counts in parts.items()]
    print_table([column, *COUNTS], rows, right=COUNTS)
