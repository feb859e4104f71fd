"""`tidegate backfill`: run tasks and schedules for dates and keys of the past, in lots, and follow them."""

import inspect
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec.structs import asdict

from tidegate.cli.by_hand import by_hand
from tidegate.cli.listing import Part, Parts, list_command
from tidegate.cli.printing import (
    NUMBER_MAX,
    Format,
    FormatOption,
    ReasonOption,
    instant,
    print_json,
    print_line,
    print_table,
)
from tidegate.domain.wording import plural
from tidegate.listings.backfills import BACKFILLS, BackfillProgress, BackfillRequest

if TYPE_CHECKING:
    from tidegate.scheduler.model.deployed import ScheduleState
    from tidegate.scheduler.store.engine_reader import EngineReader


app = typer.Typer(no_args_is_help=True, help="Run tasks and schedules for dates and keys of the past.")

FollowOption = Annotated[
    bool,
    typer.Option("--follow", help="Show its progress until it ends; exit code 1 unless all of it succeeds."),
]
NumberArgument = Annotated[int, typer.Argument(min=1, max=NUMBER_MAX, help="The number of the backfill.")]


class Rows(StrEnum):
    """What a row of the progress is about."""

    DATE = "date"
    TASK = "task"


class Urgency(StrEnum):
    """The priority of a backfill."""

    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


class Chosen(StrEnum):
    """Which of the dates and keys are run."""

    MISSING = "missing"
    FAILED = "failed"
    STALE = "stale"
    ALL = "all"


@app.command("start")
def start(
    name: Annotated[str | None, typer.Argument(help='The schedule or task, as "app/name" or alone.')] = None,
    from_: Annotated[
        str | None, typer.Option("--from", help="The first date or key of a range.", metavar="KEY")
    ] = None,
    to: Annotated[str | None, typer.Option("--to", help="The last one, included.", metavar="KEY")] = None,
    keys: Annotated[
        list[str] | None,
        typer.Option("--key", help="In place of a range, one date or key; may be repeated.", metavar="KEY"),
    ] = None,
    which: Annotated[
        Chosen, typer.Option(help="Only those without a success, or whose newest job failed or is stale.")
    ] = Chosen.ALL,
    app: Annotated[str | None, typer.Option(help="The app of the name; alone: all its tasks.")] = None,
    lot: Annotated[int, typer.Option(min=1, max=NUMBER_MAX, help="How many dates run at once.")] = 1,
    upstream: Annotated[
        bool, typer.Option("--upstream", help="Run all upstream tasks and schedules for these dates too.")
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option(help="Only this task of them; may be repeated.", show_default=False)
    ] = None,
    request: Annotated[
        str, typer.Option(help="A key of yours: a second call with it starts nothing.", metavar="KEY")
    ] = "",
    priority: Annotated[
        Urgency | None,
        typer.Option(help="Its place among all ready jobs; without it behind every other one."),
    ] = None,
    quiet_downstream: Annotated[
        bool, typer.Option("--quiet-downstream", help="What it publishes starts no schedule.")
    ] = False,
    reason: ReasonOption = "",
    follow: FollowOption = False,
    format: FormatOption = Format.TEXT,
) -> None:
    """Start a backfill of a schedule or task, or of the tasks of an app, for some dates or keys."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.domain.model import Priority
    from tidegate.listings.queries.backfills import public_backfill
    from tidegate.scheduler.commands.backfills.request import Wanted, progress
    from tidegate.scheduler.commands.backfills.start import start_backfill_once
    from tidegate.scheduler.explain.names import find_app, find_schedule

    _check_usage(name, app, keys, from_, to)
    with opened_store() as store, store.transaction() as transaction:
        app = find_app(transaction, app)
        state = None if name is None else find_schedule(transaction, name, None if app is None else {app})
        wanted = Wanted(
            app=app or ("" if state is None else state.app),
            task=None if state is None else state.name,
            from_=from_,
            to=to,
            keys=tuple(keys or ()),
            which=which.value,
            lot=lot,
            upstream=upstream,
            only=tuple(only or ()),
            priority=None if priority is None else Priority(priority),
            quiet_downstream=quiet_downstream,
        )
        by = by_hand(reason)
        started, _ = start_backfill_once(transaction, wanted, datetime.now(UTC), by, request)
        found = public_backfill(progress(transaction, started.number))
        states = transaction.schedules(refs=started.tasks)
    if format is Format.TEXT:
        print_started(found, states)
    elif not follow:
        print_json(found)
    if follow:
        _follow(found.id, format)


def _check_usage(
    name: str | None, app: str | None, keys: Sequence[str] | None, from_: str | None, to: str | None
) -> None:
    """Refuse a start that names nothing, or neither a whole range nor single keys."""
    if name is None and app is None:
        raise typer.BadParameter("name a schedule or a task, or an app with --app")
    if bool(keys) == (from_ is not None and to is not None) or (keys and (from_ or to)):
        raise typer.BadParameter("name a range with --from and --to, or single keys with --key")


def _follow(number: int, format: Format) -> None:
    """Show the progress of a backfill until it ends; for tools also the backfill, once it has ended."""
    from tidegate.cli.followed import Step, follow
    from tidegate.listings.queries.backfills import public_backfill
    from tidegate.scheduler.commands.backfills.request import progress

    ended: list[BackfillProgress] = []

    def look(reader: "EngineReader") -> Step:
        ended[:] = [found := public_backfill(progress(reader, number))]
        running, failed = found.counts["running"], found.counts["failed"]
        text = f"{found.state}, {running} running, {failed} failed"
        return Step(found.counts["successful"], found.total, text, ended=found.has_ended)

    follow(
        f"backfill {number}",
        look,
        f"tidegate backfill status {number} --follow",
        for_tools=format is not Format.TEXT,
    )
    if format is not Format.TEXT:
        print_json(ended[0])
    if ended[0].state != "done":
        raise typer.Exit(1)


_listed = list_command(
    BACKFILLS,
    lambda given, _: Parts(
        [Part("", given)], "No backfills; start one with: tidegate backfill start NAME --from KEY --to KEY"
    ),
    limit=NUMBER_MAX,
    oldest_first=True,
)


def _status(
    number: Annotated[
        int | None, typer.Argument(min=1, max=NUMBER_MAX, help="One backfill. Default: list all.")
    ] = None,
    by: Annotated[
        Rows, typer.Option(help="A row for each date or key, or for each task and schedule.")
    ] = Rows.DATE,
    follow: FollowOption = False,
    **options: Any,
) -> None:
    """Show how far the backfills are, or one of them by date or task."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.listings.queries.backfills import counted, public_backfill
    from tidegate.scheduler.commands.backfills.request import progress

    if number is None:
        if follow:
            raise typer.BadParameter("name the backfill to follow")
        return _listed(**options)
    if follow:
        return _follow(number, options["format"])
    with opened_store() as store, store.reading() as reader:
        found = public_backfill(progress(reader, number))
        parts = counted(reader.instances(backfill=number), by is Rows.TASK)
    if options["format"] is not Format.TEXT:
        print_json({**asdict(found), f"by_{by}": parts})
    else:
        print_progress(found, parts, str(by))


vars(_status)["__signature__"] = inspect.Signature(
    [
        *list(inspect.signature(_status).parameters.values())[:-1],
        *inspect.signature(_listed).parameters.values(),
    ]
)
app.command("status")(_status)


@app.command("cancel")
def cancel(number: NumberArgument, reason: ReasonOption = "", format: FormatOption = Format.TEXT) -> None:
    """Cancel a backfill: what does not run yet is discarded, what runs or is done stays."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.listings.queries.backfills import public_backfill
    from tidegate.scheduler.commands.backfills.cancel import cancel_backfill

    with opened_store() as store, store.transaction() as transaction:
        left = public_backfill(cancel_backfill(transaction, number, datetime.now(UTC), by_hand(reason)))
    if format is Format.JSON:
        print_json(left)
        return
    typer.echo(
        f"backfill {number} is cancelled: {left.counts['successful']} instances are done, "
        f"{left.counts['failed']} failed, {left.counts['running']} still run"
    )


@app.command("resume")
def resume(number: NumberArgument, reason: ReasonOption = "", format: FormatOption = Format.TEXT) -> None:
    """Resume a cancelled backfill: exactly what its cancel has discarded is made again."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.listings.queries.backfills import public_backfill
    from tidegate.scheduler.commands.backfills.cancel import resume_backfill

    with opened_store() as store, store.transaction() as transaction:
        found = public_backfill(resume_backfill(transaction, number, datetime.now(UTC), by_hand(reason)))
    if format is Format.JSON:
        print_json(found)
        return
    left = sum(found.counts[status] for status in ("not_run", "waiting"))
    print_line(f"backfill {number} is resumed: {left} of {found.total} instances are to run")
    print_line(f"follow it with: tidegate backfill status {number} --follow")


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


def print_started(progress: BackfillProgress, states: "Sequence[ScheduleState]") -> None:
    """Print a backfill that was just started.

    Args:
        states: its tasks and schedules.
    """
    each, tasks = progress.backfill, sum(state.spec.task is not None for state in states)
    kinds = [plural(n, name) for n, name in ((tasks, "task"), (len(states) - tasks, "schedule")) if n]
    print_line(
        f"backfill {each.number} is started: {plural(progress.total, 'instance')} of {' and '.join(kinds)}, "
        f"{'keys' if tasks < len(states) else 'business dates'} {progress.dates}, "
        f"in lots of {plural(each.lot, 'date')}"
    )
    print_line(_place(each))
    _print_disabled(each)
    for ref in (state.ref for state in states if not state.active):
        print_line(f"{ref} is suspended: its instances wait until `tidegate schedules resume {ref}`")
    print_line(f"follow it with: tidegate backfill status {each.number} --follow")


def _place(backfill: BackfillRequest) -> str:
    """Return the place of its instances among the ready jobs."""
    if backfill.priority is None:
        return "its instances start when no other job is ready for their slots; `--priority` changes that"
    return f"its instances have priority {backfill.priority}"


def _print_disabled(backfill: BackfillRequest) -> None:
    for task in backfill.disabled:
        print_line(f"{task} is left out: it is disabled, or has no keys, and nothing here waits for it")


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
