"""Start a backfill: make the instances of its dates and keys, in lots (docs/cycles.md, "Backfill")."""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from itertools import islice

import msgspec

from tidegate.domain.model import App
from tidegate.domain.part_name import whole_name
from tidegate.domain.value import Value
from tidegate.scheduler.commands.backfills.points import Point, points_between, points_named
from tidegate.scheduler.commands.backfills.request import (
    NEWEST,
    Backfill,
    Wanted,
    backfill_of,
    write_backfill,
)
from tidegate.scheduler.commands.backfills.upstream import Producers, with_upstream
from tidegate.scheduler.commands.backfills.which import chosen
from tidegate.scheduler.commands.tasks.instances import task_state
from tidegate.scheduler.decision.instances.made import make
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.refused import InstanceRefused, Refused
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.load import load_apps
from tidegate.scheduler.tick.tick import advance_before

INSTANCES_MAX = 100_000
"""The most instances of one backfill."""


class Members(Value, kw_only=True):
    """What a backfill runs.

    Attributes:
        points: with the lot of each, from 0.
        left_out: refs of what is disabled, or has no keys.
    """

    points: tuple[tuple[Point, int], ...]
    left_out: tuple[str, ...]


def start_backfill(transaction: EngineTransaction, wanted: Wanted, now: datetime, by: By) -> Backfill:
    """Make the instances of a backfill.

    Raises:
        InstanceRefused: what is named is unknown, disabled or without keys, the dates are malformed or in the
            wrong order, or the time of an instance is not over.
    """
    advance_before(transaction, now)
    if wanted.lot < 1:
        raise InstanceRefused("E-RANGE", f"a lot has at least one business date, got {wanted.lot}")
    if bool(wanted.keys) == (wanted.from_ is not None or wanted.to is not None):
        raise InstanceRefused(
            "E-RANGE", "name a range, with its first and its last date or key, or single keys"
        )
    if not wanted.keys and (wanted.from_ is None or wanted.to is None):
        raise InstanceRefused("E-RANGE", "a range has a first and a last date or key, and one is missing")
    members = _members(transaction, wanted, now)
    refs = tuple(dict.fromkeys(point.state.ref for point, _ in members.points))
    backfill = Backfill(
        number=(transaction.cursor(NEWEST) or 0) + 1,
        task=wanted.task,
        app=wanted.app,
        tasks=tuple(sorted(refs)),
        disabled=members.left_out,
        from_=wanted.from_ or wanted.keys[0],
        to=wanted.to or wanted.keys[-1],
        keys=wanted.keys,
        which=wanted.which,
        lot=wanted.lot,
        priority=wanted.priority,
        quiet_downstream=wanted.quiet_downstream,
        by=by.actor,
        requested_at=now,
    )
    transaction.set_cursor(NEWEST, backfill.number)
    new = [
        make(point.state, _instance(point.instance, backfill, lot, now), now) for point, lot in members.points
    ]
    transaction.put_jobs([job for job, _ in new])
    started = write_backfill(transaction, backfill, "start", by, now)
    transaction.add_journal([started, *(entry for _, entry in new)])
    return backfill


def start_backfill_once(
    transaction: EngineTransaction, wanted: Wanted, now: datetime, by: By, request: str
) -> tuple[Backfill, bool]:
    """Make the instances of a backfill, unless a call with the same key has done so.

    Args:
        request: a key of the caller's for the backfill of an app; "" for none.

    Returns:
        The backfill, and whether it was started before: then nothing has changed.

    Raises:
        Refused: the key was used for another backfill.
        InstanceRefused: see `start_backfill`.
    """
    if not request:
        return start_backfill(transaction, wanted, now, by), False
    name = f"backfill request:{wanted.app}:{request}"
    asked = hashlib.sha256(msgspec.json.encode(wanted)).hexdigest()
    known = transaction.cursor(name)
    if known is not None:
        if known["asked"] != asked:
            raise Refused(
                f"the request {request} was another backfill of {wanted.app}",
                "give each backfill a key of its own",
            )
        return backfill_of(transaction, known["number"]), True
    made = start_backfill(transaction, wanted, now, by)
    transaction.set_cursor(name, {"number": made.number, "asked": asked})
    return made, False


def _instance(instance: Instance, backfill: Backfill, lot: int, now: datetime) -> Instance:
    return msgspec.structs.replace(
        instance,
        number=backfill.number,
        lot=lot,
        priority=backfill.priority,
        quiet=backfill.quiet_downstream,
        began=None if lot else now,
        counts_from=now,
    )


# --- what belongs to it -----------------------------------------------------------------


def _members(reader: EngineReader, wanted: Wanted, now: datetime) -> Members:
    """Return what a backfill runs, in lots.

    Raises:
        InstanceRefused: see `start_backfill`.
    """
    named = None if wanted.task is None else deployed(reader, whole_name(wanted.app, wanted.task))
    if named is not None and named.spec.task is None:
        members = _of_schedule(reader, named, wanted, now)
    else:
        members = _of_tasks(reader, wanted, now)
    if len(members.points) > INSTANCES_MAX:
        raise InstanceRefused(
            "E-RANGE", f"a backfill has at most {INSTANCES_MAX:,} instances", "split the range"
        )
    if not members.points and wanted.which != "all":
        raise InstanceRefused(
            "E-RANGE", f"no date or key of these is {wanted.which}", "`--which all` takes them all"
        )
    if not members.points:
        raise InstanceRefused("E-RANGE", "no task has an instance for these business dates")
    return members


def deployed(reader: EngineReader, ref: str) -> ScheduleState:
    """Return a deployed task or schedule.

    Raises:
        InstanceRefused: nothing of that name is deployed.
    """
    state = next(iter(reader.schedules(refs=(ref,))), None)
    if state is None:
        raise InstanceRefused(
            "E-TASK", f"no task or schedule {ref} is deployed", "`tidegate schedules list` shows what is"
        )
    return state


def _of_schedule(reader: EngineReader, state: ScheduleState, wanted: Wanted, now: datetime) -> Members:
    if wanted.only:
        raise InstanceRefused(
            "E-TASK", f"{state.ref} is a schedule, and `only` chooses among tasks", "leave it out"
        )
    app = load_apps(reader, [state])[state.app]
    points = chosen(reader, app, _asked(state, app, wanted, now), wanted.which)
    if not wanted.upstream:
        return Members(points=_in_lots(points, wanted.lot), left_out=())
    chain = with_upstream(Producers(reader), state, points, now)
    every = [point for each in chain.points.values() for point in each]
    levels = 1 + max(chain.levels.values())
    found = (
        (point, lot * levels + chain.levels[point.state.ref]) for point, lot in _in_lots(every, wanted.lot)
    )
    return Members(points=tuple(found), left_out=chain.without)


def _of_tasks(reader: EngineReader, wanted: Wanted, now: datetime) -> Members:
    states, disabled = _tasks(reader, wanted)
    apps = load_apps(reader, states)
    points: list[Point] = []
    for state in states:
        asked = _asked(state, apps[state.app], wanted, now, len(points))
        points += chosen(reader, apps[state.app], asked, wanted.which)
    left_out = tuple(state.ref for state in disabled)
    if wanted.from_ is None or wanted.which != "all" or not points:
        return Members(points=_in_lots(points, wanted.lot), left_out=left_out)
    # Days of which no task has an instance count too.
    first = date.fromisoformat(wanted.from_)
    days = ((point, (date.fromisoformat(point.date) - first).days) for point in points)
    return Members(points=tuple((point, day // wanted.lot) for point, day in days), left_out=left_out)


def _asked(state: ScheduleState, app: App, wanted: Wanted, now: datetime, known: int = 0) -> list[Point]:
    """Return the points of a task or schedule that were asked for, one more than there may be at most."""
    most = INSTANCES_MAX + 1 - known
    if wanted.from_ is not None and wanted.to is not None:
        return list(islice(points_between(state, app, wanted.from_, wanted.to, now), most))
    return list(islice(points_named(state, app, wanted.keys, now), most))


def _in_lots(points: Sequence[Point], lot: int) -> tuple[tuple[Point, int], ...]:
    """Return points with their lots, of so many dates each; those of the same date are in the same lot."""
    places = {each: place for place, each in enumerate(_dates(points))}
    return tuple((point, places[point.date] // lot) for point in points)


def _dates(points: Iterable[Point]) -> list[str]:
    """Return the dates of points in their order in time; those of a list in the order of the list."""
    first: dict[str, datetime] = {}
    for point in points:
        first.setdefault(point.date, point.instance.scheduled)
    return sorted(first, key=lambda each: first[each])


def _tasks(reader: EngineReader, wanted: Wanted) -> tuple[list[ScheduleState], list[ScheduleState]]:
    """Return the tasks of a backfill by ref, and those that are left out because they are disabled.

    Raises:
        InstanceRefused: a named task is unknown or disabled.
    """
    if wanted.task is not None:
        states = {state.ref: state for state in [task_state(reader, whole_name(wanted.app, wanted.task))]}
    else:
        states = {
            state.ref: state for state in reader.schedules(app=wanted.app) if state.spec.task is not None
        }
        if not states:
            raise InstanceRefused("E-TASK", f"app {wanted.app} has no tasks")
    named = frozenset(states if wanted.task is not None else ())
    if wanted.upstream:
        states |= _upstream(reader, states.values())
    only = {whole_name(wanted.app, name) for name in wanted.only}
    unknown = sorted(only - states.keys())
    if unknown:
        raise InstanceRefused("E-TASK", f"the backfill has no task {unknown[0]}", "leave it out of `only`")
    disabled = [state for _, state in sorted(states.items()) if not state.spec.as_task.enabled]
    refused = next((state for state in disabled if state.ref in named | only), None)
    if refused is not None:
        raise InstanceRefused(
            "E-DISABLED", f"task {refused.ref} is disabled", "enable it in its YAML, and deploy"
        )
    enabled = [state for _, state in sorted(states.items()) if state.spec.as_task.enabled]
    chosen = [state for state in enabled if not only or state.ref in only]
    if not chosen:
        raise InstanceRefused("E-DISABLED", "all tasks of the backfill are disabled")
    return chosen, [] if only else disabled


def _upstream(reader: EngineReader, states: Iterable[ScheduleState]) -> dict[str, ScheduleState]:
    """Return all tasks upstream of some tasks."""
    found: dict[str, ScheduleState] = {}
    ahead = list(states)
    while ahead:
        refs = {
            whole_name(state.app, each.task)
            for state in ahead
            for each in state.spec.as_task.depends_on
            if not each.itself
        }
        ahead = [state for state in reader.schedules(refs=refs - found.keys()) if state.spec.task is not None]
        found |= {state.ref: state for state in ahead}
    return found
