"""Backfills as text: what was started, and how far one is by business date or by task."""

from collections.abc import Sequence

import typer

from tidegate.cli.printing import instant, print_line, print_table
from tidegate.domain.wording import plural
from tidegate.listings.backfills import BackfillProgress, BackfillRequest

COUNTS = ("all", "done", "running", "failed", "waiting", "paused")
"""Columns of numbers; `waiting` are all that have not begun."""


def _numbers(counts: dict[str, int]) -> list[str]:
    """Return the numbers of `COUNTS`."""
    found = [
        sum(counts.values()),
        counts.get("successful", 0),
        counts.get("running", 0),
        counts.get("failed", 0),
        counts.get("not_run", 0) + counts.get("waiting", 0),
        counts.get("paused", 0),
    ]
    return [str(number) for number in found]


def print_started(progress: BackfillProgress, held: Sequence[str]) -> None:
    """Print a backfill that was just started.

    Args:
        held: its suspended tasks.
    """
    each = progress.backfill
    print_line(
        f"backfill {each.number} is started: {plural(progress.total, 'instance')} of "
        f"{plural(len(each.tasks), 'task')}, business dates {progress.dates}, "
        f"in lots of {plural(each.lot, 'date')}"
    )
    print_line(_place(each))
    _print_disabled(each)
    for task in held:
        print_line(f"{task} is suspended: its instances wait until `tidegate schedules resume {task}`")
    print_line(f"follow it with: tidegate backfill status {each.number} --follow")


def _place(backfill: BackfillRequest) -> str:
    """Return the place of its instances among the ready jobs."""
    if backfill.priority is None:
        return "its instances start when no other job is ready for their slots; `--priority` changes that"
    return f"its instances have priority {backfill.priority}"


def _print_disabled(backfill: BackfillRequest) -> None:
    for task in backfill.disabled:
        print_line(f"{task} is disabled: it has no instances here, and no other task waits for it")


def print_progress(progress: BackfillProgress, parts: dict[str, dict[str, int]], of: str) -> None:
    """Print how far a backfill is, as a whole and in parts."""
    each, done = progress.backfill, progress.counts["successful"]
    percent = f" ({100 * done // progress.total} %)" if progress.total else ""
    print_line(
        f"backfill {each.number} of {progress.of}: {progress.state}, {done} of {progress.total} "
        f"done{percent}, {progress.counts['running']} running, {progress.counts['failed']} failed"
    )
    print_line(f"requested {instant(each.requested_at)} by {each.by}, lots of {plural(each.lot, 'date')}")
    print_line(_place(each))
    _print_disabled(each)
    typer.echo()
    column = "business date" if of == "date" else of
    rows = [[name, *_numbers(counts)] for name, counts in parts.items()]
    print_table([column, *COUNTS], rows, right=COUNTS)
