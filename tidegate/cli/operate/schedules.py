"""`tidegate schedules`: list and show deployed schedules, and change them by hand.

The store is the source of truth: the listed schedules run, even if the YAML differs.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.by_hand import ExpiresOption, by_hand, until_of
from tidegate.cli.develop.agreement import NotAgreed, YesOption, at_terminal, require_agreement, taken_away
from tidegate.cli.listing import Given, Part, Parts, list_command
from tidegate.cli.operate.schedule_changes import create_schedule, update_schedule
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
from tidegate.domain.model import OnSuspend
from tidegate.listings.schedules import SCHEDULES
from tidegate.scheduler.model.records.override import OVERRIDES

if TYPE_CHECKING:
    from tidegate.domain.model import Program
    from tidegate.domain.time.expiry import Until
    from tidegate.scheduler.model.deployed import ScheduleState
    from tidegate.scheduler.model.journal import By
    from tidegate.scheduler.store.engine_reader import EngineReader
    from tidegate.scheduler.store.protocol import EngineTransaction

    Switch = Callable[[EngineTransaction, str, datetime, By, Until | None], bool]


RECENT_JOBS = 10
RECENT_ENTRIES = 20

NameArgument = Annotated[
    str, typer.Argument(help='"app/schedule", or the schedule alone if only one app has it.')
]
NamesArgument = Annotated[list[str], typer.Argument(help='Schedules as "app/schedule" or by name alone.')]

app = typer.Typer(
    no_args_is_help=True, help="List, show, change, suspend, resume, trigger and delete schedules."
)
app.command("update")(update_schedule)
app.command("create")(create_schedule)


def _parts(given: Given, _: object) -> Parts:
    """Return the only part; the total is known where no more than an app is asked for."""
    prefix = f"{given['app'].rpartition('/')[2]}/" if "app" in given else ""

    def total(reader: "EngineReader") -> int:
        return sum(ref.startswith(prefix) for ref in reader.schedule_refs())

    if given.keys() - {"app"}:
        return Parts([Part("", given)], "No deployed schedule or task matches.")
    return Parts([Part("", given)], "No schedules are deployed. Run `tidegate deploy` first.", total=total)


app.command("list")(
    list_command(
        SCHEDULES,
        _parts,
        limit=200,
        json_limit=NUMBER_MAX,
        help="List the deployed schedules and tasks; `tidegate tasks list` says more of tasks.",
    )
)


@app.command("show")
def show_schedule(name: NameArgument, format: FormatOption = Format.TEXT) -> None:
    """Show one schedule: its status, its specification, its newest jobs, and who changed it."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.cli.operate.history import print_history
    from tidegate.listings.queries.jobs import public_jobs
    from tidegate.listings.queries.schedules import listed_schedules
    from tidegate.project.local_time import use_zone
    from tidegate.scheduler.explain.names import find_schedule
    from tidegate.scheduler.tick.load import load_app

    with opened_store() as store, store.reading() as reader:
        state = find_schedule(reader, name)
        use_zone(state.spec.timezone)
        jobs = reader.jobs(schedules=[state.ref], limit=RECENT_JOBS)
        history = reader.journal(schedule=state.ref, limit=RECENT_ENTRIES)
        app = load_app(reader, state.app)
        if format is Format.JSON:
            (public,) = listed_schedules(reader, [state], datetime.now(UTC))
            print_json({"schedule": public, "jobs": public_jobs(reader, jobs), "history": history})
            return
    program = None if app is None else app.programs.get(state.spec.program)
    print_table(["schedule", state.ref], [*_fields(state), *_existing(program)])
    if state.spec.task is not None:
        typer.echo(f"\nIts instances: tidegate instances list {state.ref}")
    elif jobs:
        typer.echo("\nNewest jobs:")
        print_table(
            ["job", "key", "state", "reason", "opened"],
            [[job.id, job.key, job.state.value, job.reason or "", instant(job.opened_at)] for job in jobs],
        )
    print_history(history)


@app.command("suspend")
def suspend_schedules(names: NamesArgument, reason: ReasonOption = "", expires: ExpiresOption = None) -> None:
    """Suspend schedules; `on_suspend` defines what happens to waiting jobs and new events.

    discard (default): waiting jobs are discarded, events are ignored.  drain: waiting jobs run, events are
    ignored.  hold: waiting jobs are held and collect events.  backlog: new jobs are opened and held too.
    """
    from tidegate.scheduler.commands.by_hand.manual import suspend

    _switch(names, suspend, "suspended", suspended_line, reason, expires)


@app.command("resume")
def resume_schedules(names: NamesArgument, reason: ReasonOption = "", expires: ExpiresOption = None) -> None:
    """Resume schedules: new events and fires count from now on, and held jobs are released."""
    from tidegate.scheduler.commands.by_hand.manual import resume

    _switch(names, resume, "active", resumed_line, reason, expires)


@app.command("trigger")
def trigger_schedule(
    name: NameArgument,
    key: Annotated[str, typer.Option(help="The partition or period of a schedule with for_each.")] = "",
    force: Annotated[
        bool, typer.Option("--force", help="Override all constraints except concurrency.")
    ] = False,
    reason: ReasonOption = "",
) -> None:
    """Count a schedule's trigger as satisfied; the next tick decides the launch."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.domain.error import UserError
    from tidegate.scheduler.commands.by_hand.manual import trigger
    from tidegate.scheduler.explain.names import find_schedule

    with opened_store() as store, store.transaction() as transaction:
        state = find_schedule(transaction, name)
        if state.spec.task is not None:
            raise UserError(
                f"{state.ref} is a task, and has instances in place of a trigger",
                "`tidegate instances rerun` runs one again, `tidegate backfill start` those of the past",
            )
        job = trigger(transaction, state.ref, datetime.now(UTC), key, force, by=by_hand(reason))
    print_line(f"job {job.id} of {state.ref} is due at the next tick")
    if not state.active:
        typer.echo("the schedule remains suspended; a job triggered by hand is not held")


@app.command("delete")
def delete_schedule(
    names: NamesArgument,
    force: Annotated[
        bool, typer.Option("--force", help="Delete tasks too that remaining tasks wait for.")
    ] = False,
    yes: YesOption = False,
    reason: ReasonOption = "",
) -> None:
    """Delete deployed schedules and discard their waiting jobs. A deploy adds schedules in the YAML again."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.compiler.render.diff_text import consequence_text
    from tidegate.scheduler.commands.deployment.schedules import delete_schedules
    from tidegate.scheduler.explain.names import find_schedule

    by, lines = by_hand(reason), None if yes or not at_terminal() else ()
    with opened_store() as store:
        while True:
            try:
                with store.transaction() as transaction:
                    refs = [find_schedule(transaction, name).ref for name in names]
                    changes = delete_schedules(transaction, refs, datetime.now(UTC), force=force, by=by)
                    if lines not in (None, taken_away(changes)):
                        raise NotAgreed(taken_away(changes))
                    break
            except NotAgreed as other:
                lines = other.lines
                require_agreement(lines, "Delete them?")
    for change in changes.schedules():
        if change.action == "delete":
            effects = "; ".join(map(consequence_text, change.consequences)) or "no waiting jobs"
            print_line(f"{change.app}/{change.name} is deleted: {effects}")


def _switch(
    names: list[str],
    switch: "Switch",
    status: str,
    effect: "Callable[[OnSuspend, int], str]",
    reason: str,
    expires: str | None,
) -> None:
    """Switch schedules in one transaction: with an unknown name nothing is changed."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.explain.names import find_schedule
    from tidegate.scheduler.model.job import WAITING
    from tidegate.scheduler.tick.tick import advance_before

    now, by = datetime.now(UTC), by_hand(reason)
    until = until_of(expires, now)
    with opened_store() as store, store.transaction() as transaction:
        states = {state.ref: state for state in (find_schedule(transaction, name) for name in names)}
        advance_before(transaction, now)
        waiting = Counter(job.schedule for job in transaction.jobs(schedules=list(states), states=WAITING))
        before = {state.ref: state.status for state in transaction.schedules(refs=states)}
        changed = {ref: switch(transaction, ref, now, by, until) for ref in states}
        overrides = {
            each.ref: each for each in transaction.records(OVERRIDES, ref=states) if each.kind == "status"
        }
    for ref, was_changed in changed.items():
        override = overrides.get(ref)
        ends = None if override is None else override.expires_at
        holds = "" if ends is None else f" until {instant(ends)}"
        if not was_changed:
            print_line(f"{ref} is already {status}{holds}")
        elif before[ref] == status:
            print_line(f"{ref} is {status}{holds or ' without an expiry'}")
        else:
            print_line(f"{ref} is {status}{holds}: {_effect(states[ref], effect, waiting[ref], status)}")


def _effect(
    state: "ScheduleState", effect: "Callable[[OnSuspend, int], str]", waiting: int, status: str
) -> str:
    """Describe what a switch does to the jobs of a schedule, or to the instances of a task."""

    if state.spec.task is None:
        return effect(state.spec.on_suspend, waiting)
    return task_line(state.spec.on_suspend, waiting, resumed=status == "active")


def _fields(state: "ScheduleState") -> Iterator[list[str]]:
    import msgspec

    from tidegate.compiler.fingerprint import canonical
    from tidegate.compiler.plan.forms import task_form

    yield ["status", f"{state.status}, set by {state.changed_by}"]
    if state.active_since is not None:
        yield ["active since", instant(state.active_since)]
    now = datetime.now(UTC)
    starts = state.next_start(now)
    if starts is not None:
        yield ["next fire" if state.spec.task is None else "next start", instant(starts, now=now)]
    yield ["deployed", instant(state.deployed_at)]
    if state.spec.at is not None:
        yield ["written in", str(state.spec.at)]
    if state.spec.task is None:
        yield ["trigger", state.spec.trigger.one_line()]
    form = canonical(state.spec) if state.spec.task is None else task_form(state.spec)
    for name, value in form.items():
        if name not in ("name", "trigger"):
            yield [name, value if isinstance(value, str) else msgspec.json.encode(value).decode()]


def _existing(program: "Program | None") -> Iterator[list[str]]:
    if program is not None and program.existing is not None:
        yield ["launches", program.existing.place]


def suspended_line(mode: OnSuspend, waiting: int) -> str:
    """Return the effect of `on_suspend` on the waiting jobs of a schedule and on new events."""
    if mode == "discard":
        return f"{_jobs(waiting, 'is discarded', 'are discarded')}; new events are ignored"
    if mode == "drain":
        return f"{_jobs(waiting, 'can still run', 'can still run')}; new events are ignored"
    held = _jobs(waiting, "is held until resume", "are held until resume")
    if mode == "hold":
        return f"{held}; new events are added to held jobs and otherwise ignored"
    return f"{held}; new events are collected in held jobs"


def resumed_line(mode: OnSuspend, waiting: int) -> str:
    """Return the effect of resuming a schedule."""
    if mode in ("hold", "backlog"):
        return (
            f"{_jobs(waiting, 'is released', 'are released')}; it continues as if it had not been suspended"
        )
    return "events and fires count from now on"


def task_line(mode: OnSuspend, waiting: int, *, resumed: bool) -> str:
    """Return the effect of suspending or resuming a task on its instances that have not begun."""
    if resumed:
        return "its instances are launched as they become ready"
    begun = "1 instance that has not begun" if waiting == 1 else f"{waiting} instances that have not begun"
    if mode == "discard":
        return f"{begun}: discarded; new ones are made and held until resume"
    if mode == "drain":
        return f"{begun}: can still run; new ones are held until resume"
    return f"{begun}: held until resume; new ones are made and held too"


def _jobs(count: int, one: str, more: str) -> str:
    if count == 0:
        return "no waiting jobs"
    return f"1 waiting job {one}" if count == 1 else f"{count} waiting jobs {more}"
