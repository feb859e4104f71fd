"""`tidegate jobs`: list, show, cancel and retry jobs, and requeue dead letters."""

import shlex
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.by_hand import by_hand
from tidegate.cli.listing import Aside, Given, Part, Parts, Short, list_command
from tidegate.cli.printing import Format, FormatOption, ReasonOption, instant, print_json, print_table
from tidegate.domain.launch_input import without_text
from tidegate.listings.jobs import JOBS

if TYPE_CHECKING:
    from tidegate.listings.shown_job import Collected, Launch, ShownJob
    from tidegate.scheduler.model.job import Job

ROWS_SHOWN = 100
"""The most collected events, and the most entries, that `jobs show` prints as text; the newest ones."""

FAILURES_SHOWN_FOR = timedelta(days=1)

WAITING = ("PENDING_TRIGGER", "PENDING_CONSTRAINT")
UNFINISHED = (*WAITING, "PENDING_LAUNCH", "LAUNCHED", "PAUSED")
FAILED = ("FAILED",)

OPERATIONS = Aside("maintenance", "operation", "on tables")

app = typer.Typer(no_args_is_help=True, help="List, show, cancel, retry and requeue jobs.")


def _parts(given: Given, forms: Collection[str]) -> Parts:
    """Return what is listed: without a state, what is not finished, and what failed in the last day.

    Jobs of operations are aside, unless the filters ask for them.
    """
    return _listed(given, forms)._replace(aside=None if _asks_for_operations(given) else OPERATIONS)


def _asks_for_operations(given: Given) -> bool:
    by_name = "policy:" in given.get("schedule", "") or given.get("reason", "").upper().startswith("M-")
    return by_name or "maintenance" in given


def _listed(given: Given, forms: Collection[str]) -> Parts:
    if "dead-letters" in forms:
        return Parts([Part("", given)], "No dead letters.")
    if "failed" in forms:
        return Parts([Part("Failed:", given)], "No failed jobs.")
    if "all" in forms or not given.keys().isdisjoint(("state", "run_state", "ended")):
        return Parts([Part("", given)], "No jobs.")
    since = datetime.now(UTC) - FAILURES_SHOWN_FOR
    waiting = Part("", {**given, "state": UNFINISHED})
    failed = Part("Failed in the last day:", {**given, "state": FAILED, "ended": since})
    return Parts([waiting, failed], "No jobs in the queue; --all shows the finished ones.")


list_jobs = list_command(
    JOBS,
    _parts,
    limit=100,
    short={
        "all": Short("Include finished jobs.", {}),
        "failed": Short("Only failed jobs.", {"state": FAILED}),
        "dead-letters": Short(
            "Only jobs whose run could not be created.",
            {"state": FAILED, "reason": "F-LAUNCH", "maintenance": False},
        ),
    },
    help="List the jobs that are not finished, oldest first, then those that failed in the last day. "
    "Operations on tables are counted only; --maintenance lists them.",
    oldest_first=True,
)
app.command("list")(list_jobs)


@app.command("show")
def show_job(
    job: Annotated[str, typer.Argument(help="The job's id, or its beginning.")],
    all_: Annotated[
        bool, typer.Option("--all", help="All its events and entries; otherwise the newest.")
    ] = False,
    format: FormatOption = Format.TEXT,
) -> None:
    """Show one job: its state, its attempts, its collected events, the input of its run, and its history."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.cli.operate.history import COLUMNS, print_history, rows
    from tidegate.listings.shown_job import shown_job
    from tidegate.processes.server_address import run_address
    from tidegate.project.local_time import use_zone_of_apps
    from tidegate.project.settings.settings import load_settings
    from tidegate.scheduler.explain.history import NEWEST_MAX
    from tidegate.scheduler.explain.names import find_job

    with opened_store() as store, store.reading() as reader:
        limit = None if all_ else ROWS_SHOWN if format is Format.TEXT else NEWEST_MAX
        shown = shown_job(reader, find_job(reader, job), limit)
        use_zone_of_apps(reader, [shown.job.app])
    if format is Format.JSON:
        print_json(shown)
        return
    found, runs, collected = shown.job, rows(shown.attempts), shown.collected
    address = run_address(load_settings(), found.run_id)
    print_table(["job", found.id], list(_fields(shown, address)))
    if runs:
        typer.echo("\nAttempts:")
        print_table(COLUMNS, runs)
    if collected:
        before = shown.events - len(collected)
        more = f" the newest, and {before:,} before them; --all shows them" if before else ""
        typer.echo(f"\nCollected:{more}")
        print_table(["arrived", "event", "partition", "leaf"], [_collected(each) for each in collected])
    print_history(shown.history, limit)


@app.command("cancel")
def cancel_job(
    job: Annotated[str, typer.Argument(help="The job's id, or its beginning.")], reason: ReasonOption = ""
) -> None:
    """Discard a job that waits or has no run (D-CANCELLED). Terminate an active run in the Dagster UI."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.commands.by_hand.manual import cancel
    from tidegate.scheduler.explain.names import find_job

    with opened_store() as store, store.transaction() as transaction:
        found = find_job(transaction, job)
        _refuse_instance(found, "pause")
        found = cancel(transaction, found.id, datetime.now(UTC), by_hand(reason))
    typer.echo(f"job {found.id} of {found.schedule} is discarded: {found.reason}")


@app.command("retry")
def retry_job(
    job: Annotated[str, typer.Argument(help="The job's id, or its beginning.")], reason: ReasonOption = ""
) -> None:
    """Run a failed job again: a new attempt with the same partitions, arguments and commit id.

    It waits for the constraints of its schedule.
    """
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.explain.names import find_job
    from tidegate.scheduler.launch.dead_letter import retry

    with opened_store() as store, store.transaction() as transaction:
        found = find_job(transaction, job)
        _refuse_instance(found, "rerun")
        queued = retry(transaction, found.id, datetime.now(UTC), by_hand(reason))
    typer.echo(f"job {queued.id} of {queued.schedule} is queued again, attempt {queued.attempt}")


@app.command("force")
def force_job(
    job: Annotated[str, typer.Argument(help="The job's id, or its beginning.")], reason: ReasonOption = ""
) -> None:
    """Run a waiting job whatever its trigger and constraints say; only concurrency still counts."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.commands.by_hand.force import force
    from tidegate.scheduler.explain.names import find_job

    with opened_store() as store, store.transaction() as transaction:
        found = find_job(transaction, job)
        _refuse_instance(found, "rerun")
        forced = force(transaction, found.id, datetime.now(UTC), by_hand(reason))
    typer.echo(f"job {forced.id} of {forced.schedule} is due at the next tick")


@app.command("requeue")
def requeue_jobs(
    jobs: Annotated[list[str] | None, typer.Argument(help="Ids of dead letters, or id prefixes.")] = None,
    every: Annotated[bool, typer.Option("--all-dead-letters", help="Requeue every dead letter.")] = False,
    reason: ReasonOption = "",
) -> None:
    """Queue dead letters again: jobs whose run could not be created (F-LAUNCH).

    Each job gets a new attempt and waits for the constraints of its schedule again.
    """
    from tidegate.cli.opened_store import opened_store
    from tidegate.domain.error import WrongUsage
    from tidegate.scheduler.explain.names import find_job
    from tidegate.scheduler.explain.work import dead_letters
    from tidegate.scheduler.launch.dead_letter import requeue

    if bool(jobs) == every:
        raise WrongUsage(
            "give the jobs to queue again, or --all-dead-letters" + (", not both" if every else ""),
            "list them with: tidegate jobs list --dead-letters",
        )
    now = datetime.now(UTC)
    with opened_store() as store, store.transaction() as transaction:
        if every:
            deployed = set(transaction.schedule_refs())
            found = dead_letters(transaction)
            ids = [job.id for job in found if job.schedule in deployed]
            left = len(found) - len(ids)
        else:
            ids = list(dict.fromkeys(find_job(transaction, job).id for job in jobs or ()))
            left = 0
        queued = [requeue(transaction, job, now, by_hand(reason)) for job in ids]
    for job in queued:
        typer.echo(f"job {job.id} of {job.schedule} is queued again, attempt {job.attempt}")
    if not queued:
        typer.echo("No dead letters to queue again.")
    if left:
        typer.echo(f"{left} not requeued: their schedules are not deployed.")


def _refuse_instance(job: "Job", instead: str) -> None:
    """Refuse an action that instances of tasks and keys of backfills have in a form of their own.

    Raises:
        UserError: the job is an instance.
    """
    from tidegate.domain.error import UserError

    if job.instance is not None:
        number = f" --backfill {job.instance.number}" if job.instance.number else ""
        raise UserError(
            f"job {job.id} is {'a key' if job.instance.keyed else 'an instance'} of {job.schedule}"
            + (f" in backfill {job.instance.number}" if job.instance.number else ""),
            f"`tidegate instances {instead} {job.schedule} {shlex.quote(job.key)}{number}`",
        )


def _fields(shown: "ShownJob", address: str) -> Iterator[list[str]]:
    from tidegate.cli.operate.operation_text import operation_fields
    from tidegate.scheduler.model.reason import Reason

    job = shown.job
    yield ["schedule", job.schedule]
    if job.key:
        yield ["key", job.key]
    if job.instance is not None:
        yield ["instance", f"tidegate instances show {job.schedule} {job.key}"]
        yield ["business date", job.instance.business_date]
    because = "" if job.reason is None else f"  {job.reason}: {Reason(job.reason).summary}"
    run = "" if job.run_state is None else f", {job.run_state}"
    yield ["state", f"{job.state}{run}{because}"]
    yield ["priority", job.priority or "behind every other job: of a backfill without a priority"]
    instants = {
        "opened": job.opened_at,
        "first event": job.first_event_at,
        "satisfied": job.satisfied_at,
        "held since": job.held_at if job.state in WAITING else None,
        "looked at": job.next_check_at,
        "discarded at": job.discarded_at,
        "next attempt": shown.retry_at,
        "decided": shown.decided_at,
        "launched": job.launched_at,
        "ended": job.ended_at,
        "late": job.late_at,
    }
    for name, value in instants.items():
        if value is not None:
            yield [name, instant(value)]
    if job.repairs is not None:
        yield ["repairs", job.repairs]
    if job.run_id is not None:
        attempt = "its publish was finished by recovery" if shown.recovered else f"attempt {job.attempt}"
        yield ["run", f"{job.run_id} ({attempt})"]
    if shown.published_nothing:
        yield ["published", "0 rows"]
    if address:
        yield ["address", address]
    if shown.work is not None:
        yield from operation_fields(shown, shown.work)
    elif shown.launch is not None:
        yield from _launch_fields(shown.launch, of_instance=job.instance is not None)
    if job.detail:
        yield ["detail", job.detail]


def _launch_fields(launch: "Launch", *, of_instance: bool) -> Iterator[list[str]]:
    yield ["writes", ", ".join(launch.partitions) or "no partitions"]
    if launch.provisional:
        yield ["provisional", without_text(launch.provisional)]
    dates = () if of_instance else launch.business_dates
    if dates:
        yield ["business dates" if len(dates) > 1 else "business date", ", ".join(dates)]
    for dataset, keys in launch.manifest.items():
        yield ["manifest", f"{dataset}: {', '.join(keys) or 'unpartitioned'}"]
    for name, value in launch.args.items():
        yield ["argument", f"{name} = {value}"]


def _collected(each: "Collected") -> list[str]:
    return [instant(each.event.arrived), each.event.key, each.event.partition or "", each.leaf or "(root)"]
