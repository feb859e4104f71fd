"""`tidegate maintenance run`: run operations on a table by hand, or show what that would start.

It passes schedule, window, conditions, back-off and throttle, but not the rules that protect the table: one
operation at a time, and no partition that a pipeline writes.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.by_hand import by_hand
from tidegate.cli.maintenance.status import TableArgument
from tidegate.cli.printing import Format, FormatOption, print_json, print_table
from tidegate.domain.model.operation import Operation
from tidegate.domain.wording import first_of

if TYPE_CHECKING:
    from tidegate.scheduler.explain.operations.dry_run import WouldRun
    from tidegate.scheduler.model.job import Job
    from tidegate.scheduler.store.engine_reader import EngineReader

KEYS_NAMED = 10
"""So many left-out partitions are printed; `--format json` has all."""


def run_operations(
    table: TableArgument,
    operation: Annotated[
        Operation | None,
        typer.Option(help="Only this operation; default: all that are configured, one after the other."),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(help='By this policy, "app/policy" or its name. Default: the one that counts.'),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would start.")] = False,
    reason: Annotated[str, typer.Option(help="Why, for the journal.", metavar="TEXT")] = "",
    wait: Annotated[
        bool,
        typer.Option("--wait", help="Show the progress until all have ended; exit code 1 if one has failed."),
    ] = False,
    format: FormatOption = Format.TEXT,
) -> None:
    """Run operations on a table now, whatever their schedule and their conditions say."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.commands.maintain import run_by_hand
    from tidegate.scheduler.explain.names import find_table
    from tidegate.scheduler.explain.operations.dry_run import would_run

    now = datetime.now(UTC)
    with opened_store() as store:
        if dry_run:
            with store.reading() as reader:
                found = find_table(reader, table)
                shown = would_run(reader, found.name, now, operation=operation, policy=policy)
            _print_dry(found.name, shown, format)
            return
        with store.transaction() as transaction:
            found, by = find_table(transaction, table), by_hand(reason)
            jobs = run_by_hand(transaction, found.name, now, operation=operation, policy=policy, by=by)
    failed = False
    if format is Format.TEXT:
        if not jobs:
            typer.echo(_nothing(found.name))
        for job in jobs:
            _print_started(job)
    if wait and jobs:
        jobs, failed = _waited(found.name, jobs[0], format)
    if format is Format.JSON:
        print_json({"table": found.name, "dry_run": False, "jobs": jobs})
    if failed:
        raise typer.Exit(1)


def _waited(table: str, first: "Job", format: Format) -> "tuple[tuple[Job, ...], bool]":
    """Show how far operations are until they have ended.

    Returns:
        Their jobs, and whether one of them has failed.
    """
    from tidegate.cli.followed import Step, follow
    from tidegate.scheduler.explain.operations.by_hand import Progress, asked_for
    from tidegate.scheduler.model.job import JobState

    jobs: list[Job] = []

    def look(reader: "EngineReader") -> Step:
        found = asked_for(reader, first.id)
        jobs[:] = found.jobs
        last = jobs[-1]
        done = sum(each.ended_at is not None for each in jobs)
        because = "" if last.reason is None else f", {last.reason}: {last.reason.summary}"
        text = f"{last.work.operation} {last.state}{because}"
        ended = found.progress in (Progress.ENDED, Progress.FAILED) and last.ended_at is not None
        return Step(done, len(jobs) + len(last.work.then), text, ended)

    follow(table, look, f"tidegate jobs show {first.id}", for_tools=format is not Format.TEXT)
    return tuple(jobs), any(each.state is not JobState.SUCCEEDED for each in jobs)


def _print_started(job: "Job") -> None:
    work = job.work
    what = f"{work.operation} of {work.table} by policy {work.policy}"
    if job.waiting:
        because = "" if job.reason is None else f", {job.reason}: {job.reason.summary}"
        typer.echo(f"{what} waits as job {job.id}{because}")
    else:
        typer.echo(f"{what} starts as job {job.id}")
    _print_excluded(work.excluded)
    if work.then:
        typer.echo(f"then: {', '.join(str(operation) for operation, _ in work.then)}")


def _print_dry(table: str, shown: "Sequence[WouldRun]", format: Format) -> None:
    if format is Format.JSON:
        print_json({"table": table, "dry_run": True, "operations": shown})
        return
    from tidegate.cli.maintenance.run_text import option_text
    from tidegate.domain.duration import duration_text

    if not shown:
        typer.echo(_nothing(table))
        return
    typer.echo(f"Nothing is changed. A run by hand would start on {table}:")
    for place, each in enumerate(shown):
        when = "now" if each.waits is None else f"when it may: {each.waits}, {each.waits.summary}"
        when = when if not place else "after the one before"
        timeout = duration_text(each.timeout)
        typer.echo(f"\n{each.operation} by policy {each.policy}, {when}, timeout {timeout}")
        _print_excluded(each.excluded)
        if each.options:
            options = [
                [name, option_text(each.operation, name, value)] for name, value in each.options.items()
            ]
            print_table(["option", "value"], options)


def _print_excluded(excluded: "Sequence[str]") -> None:
    if not excluded:
        return
    typer.echo(f"without the partitions that pipelines write: {first_of(excluded, KEYS_NAMED)}")


def _nothing(table: str) -> str:
    return f"The policies of {table} configure no operation: nothing to run."
