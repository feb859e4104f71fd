"""What waits, and for what: a group for each thing that is waited for, its heading a sentence.

    rows of the store, by reason and resource or schedule ──► groups by kind and name ──► at most GROUPS_MAX

Two schedules that wait for the same window are one group, and so are the tasks behind one task. Operations on
tables are one line apart. Who holds a slot, and what has become of an upstream task, is read for the groups
that are shown only.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from tidegate.domain.model import Schedule, leaves
from tidegate.domain.part_name import app_of, name_in, whole_name
from tidegate.domain.value import Value
from tidegate.domain.wording import listed
from tidegate.scheduler.decision.marks import windows_of
from tidegate.scheduler.model.instance import instance_resource
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.answers import Awaiting
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.server.board.now.words import Kind, Known, words_of

ROWS_READ = 200
"""The most frequent rows; what is beyond them is counted."""

GROUPS_MAX = 20

WHO_MAX = 4
"""So many of those that wait are named."""

HOLDERS_MAX = 3

_INSTANCE = instance_resource("")


class Who(Value, kw_only=True):
    """A job that waits."""

    job: str
    schedule: str
    key: str
    since: datetime


class Group(Value, kw_only=True):
    """Jobs that wait for one thing.

    Attributes:
        state: waiting, held, queued, late or failed: whose shape it has.
        jobs: how many.
        title: what they wait for, as a verb and its object.
        says: more of it, a sentence; "" for nothing more.
        until: when time alone ends it; None if that is not known.
        until_text: what ends it, where no instant does.
        reasons: the codes.
        who: some of them, the oldest first.
    """

    state: str = "waiting"
    jobs: int
    title: str
    says: str = ""
    until: datetime | None = None
    until_text: str = ""
    reasons: tuple[Reason, ...]
    oldest: datetime
    who: tuple[Who, ...]


class Upkeep(Value, kw_only=True):
    """The operations on tables that wait.

    Attributes:
        says: for what, in numbers.
        until: when the first of them may go on.
    """

    jobs: int
    says: str
    until: datetime | None


class Waits(Value, kw_only=True):
    """What waits.

    Attributes:
        more: how many jobs are in no group that is shown.
    """

    groups: tuple[Group, ...]
    more: int
    upkeep: Upkeep | None


def waits(
    reader: ListingReader, now: datetime, zone: str, apps: frozenset[str] | None, waiting: int
) -> Waits:
    """Return what waits.

    Args:
        zone: of the page.
        waiting: how many jobs of schedules and tasks wait in all, the held ones included.
    """
    rows = reader.awaiting(ROWS_READ, apps)
    pipelines = [row for row in rows if not row.operation]
    specs = _specs(reader, pipelines)
    groups: dict[Kind, list[Awaiting]] = {}
    for row in pipelines:
        groups.setdefault(_kind(row, specs), []).append(row)
    largest = sorted(groups.items(), key=lambda each: (-sum(row.jobs for row in each[1]), each[0].kind))
    shown = _joined(reader, largest[:GROUPS_MAX])
    known = _read(reader, now, zone, specs, shown)
    found = tuple(_group(kind, several, known) for kind, several in shown)
    return Waits(
        groups=found,
        more=max(0, waiting - sum(group.jobs for group in found)),
        upkeep=_upkeep([row for row in rows if row.operation]),
    )


def wait_text(reader: ListingReader, now: datetime, zone: str, job: Job) -> str:
    """Return what a job waits for, as a verb and its object: the title of its group."""
    blocked = job.blocked_on
    awaited = blocked.rpartition("-")[0] if blocked is not None and blocked.startswith(_INSTANCE) else blocked
    row = Awaiting(
        reason=job.reason,
        blocked_on=awaited,
        schedule="" if blocked else job.schedule,
        operation=False,
        paused=job.state is JobState.PAUSED,
        jobs=1,
        oldest=job.opened_at,
        first_check=job.next_check_at,
        last_check=job.next_check_at,
        first_job=job.id,
        last_job=job.id,
        first_blocked=blocked,
    )
    specs = _specs(reader, [row])
    shown = _joined(reader, [(_kind(row, specs), [row])])
    ((kind, rows),) = shown
    return words_of(kind, rows, _read(reader, now, zone, specs, shown), row.first_check).one


def _specs(reader: ListingReader, rows: Iterable[Awaiting]) -> dict[str, Schedule]:
    refs = {row.schedule for row in rows if row.schedule}
    return {state.ref: state.spec for state in reader.schedules(refs=refs)} if refs else {}


# --- what is waited for -----------------------------------------------------------------


def _kind(row: Awaiting, specs: dict[str, Schedule]) -> Kind:
    """Return what the jobs of a row wait for."""
    if row.paused:
        return Kind(kind="paused")
    blocked, spec = row.blocked_on or "", specs.get(row.schedule)
    if blocked.startswith(_INSTANCE):
        return Kind(kind="task", name=_task(blocked))
    match row.reason:
        case Reason.W_REPORT:
            return Kind(kind="report", name=row.schedule)
        case Reason.W_TRIGGER | Reason.W_QUIET if spec is not None:
            return Kind(kind=row.reason.value, name=", ".join(_datasets(row.schedule, spec)) or row.schedule)
        case Reason.W_WINDOW if spec is not None:
            hours = (f"{each.from_:%H:%M} to {each.to:%H:%M} {each.timezone}" for each in windows_of(spec))
            return Kind(kind="window", name=", ".join(hours))
        case Reason.W_TIME | Reason.W_RETRY | Reason.W_DELAY | Reason.W_LAST_RUN | None:
            return Kind(kind="" if row.reason is None else row.reason.value)
        case _:
            return Kind(kind=row.reason.value, name=blocked or row.schedule)


def _task(resource: str) -> str:
    """Return the task ("app/name") of the beginning of the resource of an instance."""
    return resource.removeprefix(_INSTANCE).replace(".", "/", 1)


def _datasets(ref: str, spec: Schedule) -> list[str]:
    app = app_of(ref)
    names = (leaf.trigger.dataset_collected for leaf in leaves(spec.trigger))
    return [name_in(app, whole_name(app, name)) for name in dict.fromkeys(names) if name is not None]


def _joined(
    reader: ListingReader, groups: Sequence[tuple[Kind, list[Awaiting]]]
) -> list[tuple[Kind, list[Awaiting]]]:
    """Join those that wait behind a task with those that wait for its report, where that is the root."""
    blocking = {
        row.first_blocked.removeprefix(_INSTANCE) for _, rows in groups for row in rows if row.first_blocked
    }
    jobs = {job.id: job for job in reader.jobs(ids=sorted(blocking))} if blocking else {}
    found: dict[Kind, list[Awaiting]] = {}
    for kind, rows in groups:
        first = jobs.get((rows[0].first_blocked or "").removeprefix(_INSTANCE))
        awaited = kind.kind == "task" and first is not None and first.reason is Reason.W_REPORT
        found.setdefault(Kind(kind="report", name=kind.name) if awaited else kind, []).extend(rows)
    return list(found.items())


# --- what is read of them ---------------------------------------------------------------


def _read(
    reader: ListingReader,
    now: datetime,
    zone: str,
    specs: dict[str, Schedule],
    groups: Collection[tuple[Kind, list[Awaiting]]],
) -> Known:
    rows = [row for _, several in groups for row in several]
    named = {id for _, several in groups for row in several[:WHO_MAX] for id in (row.first_job, row.last_job)}
    blocking = {row.first_blocked.removeprefix(_INSTANCE) for row in rows if row.first_blocked}
    resources = {row.blocked_on for row in rows if row.reason is Reason.W_CONCURRENCY and row.blocked_on}
    holding: dict[str, list[str]] = {}
    if resources:
        for holder, held in reader.slot_holders().items():
            for resource in resources.intersection(held):
                holding.setdefault(resource, []).append(holder)
    some = {id for several in holding.values() for id in several[:HOLDERS_MAX]}
    jobs = {job.id: job for job in reader.jobs(ids=sorted(named | blocking | some))}
    return Known(
        now=now,
        zone=zone,
        specs=specs,
        jobs=jobs,
        holders={
            resource: tuple(jobs[id] for id in several[:HOLDERS_MAX] if id in jobs)
            for resource, several in holding.items()
        },
        taken={resource: len(several) for resource, several in holding.items()},
    )


def _group(kind: Kind, rows: Sequence[Awaiting], known: Known) -> Group:
    number = sum(row.jobs for row in rows)
    checks = [row.first_check for row in rows if row.first_check is not None]
    words = words_of(kind, rows, known, min(checks, default=None))
    many = number != 1
    return Group(
        state=words.state,
        jobs=number,
        title=words.many if many else words.one,
        says=words.says,
        until=words.until,
        until_text=words.until_text,
        reasons=tuple(dict.fromkeys(row.reason for row in rows if row.reason is not None)),
        oldest=min(row.oldest for row in rows),
        who=_who(rows, known.jobs),
    )


def _who(rows: Iterable[Awaiting], jobs: dict[str, Job]) -> tuple[Who, ...]:
    ids = dict.fromkeys(id for row in rows for id in (row.first_job, row.last_job))
    found = sorted((jobs[id] for id in ids if id in jobs), key=lambda job: (job.opened_at, job.id))
    return tuple(
        Who(job=job.id, schedule=job.schedule, key=job.key, since=job.opened_at) for job in found[:WHO_MAX]
    )


def _upkeep(rows: Sequence[Awaiting]) -> Upkeep | None:
    if not rows:
        return None
    numbers: dict[str, int] = {}
    for row in rows:
        summary = "the next poll" if row.reason is None else row.reason.summary
        numbers[summary] = numbers.get(summary, 0) + row.jobs
    checks = [row.first_check for row in rows if row.first_check is not None]
    parts = [f"{number} as {why}" for why, number in sorted(numbers.items(), key=lambda each: -each[1])]
    return Upkeep(
        jobs=sum(row.jobs for row in rows), says=listed(parts, "and"), until=min(checks, default=None)
    )
