"""The words for what jobs wait for: a verb with its object, of one job and of several, and what ends it."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from tidegate.domain.model import Schedule
from tidegate.domain.part_name import name_of
from tidegate.domain.time.wall_clock import wall_time
from tidegate.domain.value import Value
from tidegate.domain.wording import listed, plural
from tidegate.scheduler.decision.constraints.window import is_open, opening
from tidegate.scheduler.decision.marks import windows_of
from tidegate.scheduler.model.instance import instance_resource
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.answers import Awaiting
from tidegate.server.board.rendering import since

EVENING = 18
"""A window that opens at this hour or later, within as many hours, is tonight's."""

_INSTANCE = instance_resource("")


class Kind(Value, kw_only=True):
    """What is waited for: its kind and its name."""

    kind: str
    name: str = ""


class Known(Value, kw_only=True):
    """What was read for the groups.

    Attributes:
        zone: of the page.
        jobs: the named jobs, and the upstream instances, by id.
        holders: of each resource, some jobs that have a slot of it; `taken` is how many have one.
    """

    now: datetime
    zone: str
    specs: dict[str, Schedule]
    jobs: dict[str, Job]
    holders: dict[str, tuple[Job, ...]]
    taken: dict[str, int]


class Words(Value, kw_only=True):
    """The words of a group, of one job and of several."""

    one: str
    many: str
    state: str = "waiting"
    says: str = ""
    until: datetime | None = None
    until_text: str = ""


def _said(
    rest: str,
    *,
    state: str = "waiting",
    says: str = "",
    until: datetime | None = None,
    until_text: str = "",
) -> Words:
    """Return the words of those that wait for something."""
    return Words(
        one=f"waits {rest}",
        many=f"wait {rest}",
        state=state,
        says=says,
        until=until,
        until_text=until_text,
    )


def words_of(kind: Kind, rows: Sequence[Awaiting], known: Known, check: datetime | None) -> Words:
    """Return what the jobs of a group wait for.

    Args:
        check: the earliest instant at which time alone changes it.
    """
    match kind.kind:
        case "paused":
            return Words(
                one="is paused", many="are paused", state="held", until_text="until a person resumes it"
            )
        case "report":
            return _said(
                f"for a report of {kind.name}", until_text="until it is reported", says=_due(rows, known)
            )
        case "task":
            return _behind(kind.name, rows, known)
        case "window":
            return _window(kind.name, rows, known)
        case Reason.W_TRIGGER.value:
            names = listed(kind.name.split(", "), "and")
            return _said(
                f"for data: {names}",
                says=_conditions(rows, known.specs),
                until=check,
                until_text="until it lands",
            )
        case Reason.W_QUIET.value:
            return _said(f"until no more data of {kind.name} comes", until=check)
        case Reason.W_CONCURRENCY.value:
            return _slot(kind.name, known)
        case Reason.W_HELD.value:
            return Words(
                one=f"is held: {kind.name} is suspended",
                many=f"are held: {kind.name} is suspended",
                state="held",
                until_text="until it is resumed",
            )
        case _:
            return _by_reason(kind, check)


def _by_reason(kind: Kind, check: datetime | None) -> Words:
    """Return the words of what the reason alone says."""
    sort, _, name = kind.name.partition(":")
    match kind.kind:
        case "":
            return _said("for the next tick", until_text="until the engine ticks")
        case Reason.W_TIME.value:
            return _said("until the start time comes", until=check)
        case Reason.W_RETRY.value:
            return _said("for the next attempt", until=check, says="A run has failed, and a pause follows.")
        case Reason.W_DELAY.value:
            return _said("until the delay has passed", until=check)
        case Reason.W_LAST_RUN.value:
            return _said("until enough time has passed since the last run", until=check)
        case Reason.W_RATE.value:
            return _said(f"for the launch rate of {name or kind.name}", until=check)
        case Reason.W_LOAD.value if sort == "gauge":
            return _said(f"for a lower report of gauge {name}", until_text="until it is reported")
        case Reason.W_LOAD.value:
            return _said("until fewer runs are active", until_text="until a run ends")
        case Reason.W_PARTITION.value:
            return _said("for another instance that writes the same partition", until_text="until it ends")
        case _:
            return _said(f"for {name or kind.name}: {Reason(kind.kind).summary}", until=check)


def _behind(task: str, rows: Sequence[Awaiting], known: Known) -> Words:
    """Return the words of those that wait for an upstream task, with what has become of it."""
    first = known.jobs.get((rows[0].first_blocked or "").removeprefix(_INSTANCE))
    if first is None:
        return _said(f"for {task}", until_text="until it is successful")
    of_key = f"Its instance {first.key}"
    match first.state:
        case JobState.FAILED:
            return _said(
                f"for {task}, which has failed",
                state="late",
                says=f"{of_key} has failed.",
                until_text="until it is run again",
            )
        case JobState.PAUSED:
            return _said(f"for {task}, which is paused", state="held", until_text="until it is resumed")
        case JobState.LAUNCHED:
            return _said(
                f"for {task}, which runs", says=f"{of_key} runs.", until_text="until it is successful"
            )
        case _:
            why = "" if first.reason is None else f": {first.reason.summary}"
            return _said(f"for {task}", says=f"{of_key} waits{why}.", until_text="until it is successful")


def _due(rows: Sequence[Awaiting], known: Known) -> str:
    """Return whether one of those that wait for a report is late, and which instances they wait for."""
    jobs = [known.jobs[id] for row in rows for id in (row.first_job, row.last_job) if id in known.jobs]
    late = [job for job in jobs if job.late_at is not None]
    keys = sorted({job.key for job in jobs if job.key})
    said = f"For {keys[0]}" + (f" to {keys[-1]}" if len(keys) > 1 else "") if keys else ""
    return f"{said}. {late[0].key} is late." if late else f"{said}." if said else ""


def _window(hours: str, rows: Sequence[Awaiting], known: Known) -> Words:
    """Return the words of those that wait for their windows to open, all of them at once."""
    specs = (known.specs[row.schedule] for row in rows if row.schedule in known.specs)
    closed = {each for spec in specs for each in windows_of(spec) if not is_open(each, known.now)}
    opens = max((opening(each, known.now) for each in closed), default=None)
    soon = opens is not None and opens - known.now < timedelta(hours=EVENING)
    tonight = soon and opens is not None and wall_time(opens, known.zone).hour >= EVENING
    return _said(
        "for tonight's window" if tonight else "for the window to open",
        says=f"It is open from {hours}." if hours else "",
        until=opens,
        until_text="at the next tick",
    )


def _conditions(rows: Sequence[Awaiting], specs: dict[str, Schedule]) -> str:
    """Return the trigger of the first schedule, in one line."""
    row = rows[0]
    spec = specs.get(row.schedule)
    line = "" if spec is None else spec.trigger.one_line()
    more = len({each.schedule for each in rows}) - 1
    others = f", and {plural(more, 'more schedule')}" if more > 0 else ""
    return f"{name_of(row.schedule)} needs {line}{others}." if line else ""


def _slot(resource: str, known: Known) -> Words:
    """Return the words of those that wait for a slot, with who holds one."""
    sort, _, name = resource.partition(":")
    taken, holders = known.taken.get(resource, 0), known.holders.get(resource, ())
    held = [
        f"{name_of(job.schedule)} ({since(job.launched_at or job.opened_at, known.now)})" for job in holders
    ]
    more = taken - len(held)
    if more > 0:
        held.append(f"{more} more")
    slots = f"{plural(taken, 'slot')} {'is' if taken == 1 else 'are'} taken" if taken else ""
    says = f"{slots}: by {listed(held, 'and')}." if held else f"{slots}." if slots else ""
    what = f"of {sort} {name}" if name else "of the store"
    return Words(
        one=f"queues for a slot {what}",
        many=f"queue for a slot {what}",
        state="queued",
        says=says,
        until_text="until a run ends",
    )
