"""The seven numbers of *Now*, with the last 24 hours of each and a line that explains it.

    failed, running, waiting      by the start and the end of each job: how many at each full hour before now
    late, queued, held, alerts    what is so now, by when it became so

Operations on tables are apart: no number counts them.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, timedelta
from urllib.parse import urlencode

from tidegate.domain.value import Value
from tidegate.domain.wording import listed, plural
from tidegate.listings.late import Late
from tidegate.scheduler.explain.work import RECENTLY, WAITING
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.alert import Alert
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.answers import HOURS, EndedWork, OpenWork
from tidegate.server.board.rendering import since
from tidegate.server.routes.holds import HeldApp

NOT_BEGUN = (RunStatus.QUEUED, RunStatus.STARTING)

JOBS = "/board/jobs"
_PIPELINES = ("maintenance", "false")

_ONE_HOUR = timedelta(hours=1)


class Tile(Value, kw_only=True):
    """A number.

    Attributes:
        state: whose shape and colour it has.
        label: what is counted.
        line: one line that explains the number.
        href: the list of what is counted.
        points: the number at each hour, the last one now; or how many became so in each hour.
        bars: whether the points are of single hours.
        hot: whether a person is needed.
    """

    state: str
    label: str
    number: int
    line: str
    href: str
    points: tuple[int, ...]
    bars: bool = False
    hot: bool = False


class Work(Value, kw_only=True):
    """What the numbers are of.

    Attributes:
        late: the newest deadline first.
        unsent: how many alerts are not sent; `alerts` are the newest of them.
        holds: apps of which nothing is launched.
    """

    now: datetime
    open: tuple[OpenWork, ...]
    ended: tuple[EndedWork, ...]
    late: tuple[Late, ...]
    unsent: int
    alerts: tuple[Alert, ...]
    holds: tuple[HeldApp, ...]

    def number(self, is_so: Callable[[OpenWork], bool]) -> int:
        """Return how many unfinished jobs of schedules and tasks are so."""
        return sum(each.jobs for each in self.of(is_so))

    def of(self, is_so: Callable[[OpenWork], bool]) -> list[OpenWork]:
        """Return the unfinished jobs of schedules and tasks that are so."""
        return [each for each in self.open if not each.operation and is_so(each)]

    @property
    def failed(self) -> int:
        """How many jobs failed in the last 24 hours, and have not been queued again."""
        return sum(each.jobs for each in self.ended if _has_failed(each))


def runs(work: OpenWork) -> bool:
    """Return whether jobs have a run that has begun."""
    return work.state is JobState.LAUNCHED and work.run not in NOT_BEGUN


def is_queued(work: OpenWork) -> bool:
    """Return whether jobs have a run that has not begun, or a launch that is decided."""
    return work.state is JobState.PENDING_LAUNCH or (
        work.state is JobState.LAUNCHED and work.run in NOT_BEGUN
    )


def is_held(work: OpenWork) -> bool:
    """Return whether a suspended schedule holds jobs."""
    return work.reason is Reason.W_HELD


def waits(work: OpenWork) -> bool:
    """Return whether jobs wait, and are not held."""
    return work.state in WAITING and not is_held(work)


def tiles(work: Work) -> tuple[Tile, ...]:
    """Return the seven numbers."""
    return (
        _failed(work),
        _late(work),
        _running(work),
        _queued(work),
        _waiting(work),
        _held(work),
        _alerts(work),
    )


def _failed(work: Work) -> Tile:
    failed = [each for each in work.ended if _has_failed(each)]
    newest = sum(each.jobs for each in failed if each.ended_hours == 0)
    begin = (work.now - RECENTLY).isoformat()
    line = f"{newest} in the last hour" if newest else "none in the last hour"
    return Tile(
        state="failed",
        label="Failed, 24 h",
        number=work.failed,
        line=line if failed else "none in 24 hours",
        href=_list(("state", "FAILED"), ("ended", begin), _PIPELINES),
        points=_each_hour((each.ended_hours, each.jobs) for each in failed),
        bars=True,
        hot=True,
    )


def _late(work: Work) -> Tile:
    dues = [each.due for each in work.late if each.due is not None]
    return Tile(
        state="late",
        label="Late",
        number=len(work.late),
        line=f"by {since(min(dues), work.now)} at most" if dues else "no deadline missed",
        href="/board/late",
        points=_levels([(_hours(work.now, each.late_at), 1) for each in work.late]),
        bars=True,
        hot=True,
    )


def _running(work: Work) -> Tile:
    found = work.of(runs)
    begun = [each.begun for each in found if each.begun is not None]
    past = [
        (each.begun_hours, each.ended_hours, each.jobs)
        for each in work.ended
        if each.begun_hours is not None and not each.operation
    ]
    return Tile(
        state="running",
        label="Running",
        number=work.number(runs),
        line=f"longest {since(min(begun), work.now)}" if begun else "no run is at work",
        href=_list(("run_state", "running"), _PIPELINES),
        points=_levels([(each.begun_hours or 0, each.jobs) for each in found], past),
    )


def _queued(work: Work) -> Tile:
    found = work.of(is_queued)
    number = work.number(is_queued)
    line = "every run has begun"
    if found:
        line = f"oldest {since(min(each.begun or each.oldest for each in found), work.now)}"
    return Tile(
        state="queued",
        label="Queued",
        number=number,
        line=line,
        href=_list(("run_state", "queued"), ("run_state", "starting"), _PIPELINES),
        points=_levels([(each.begun_hours or 0, each.jobs) for each in found]),
        bars=True,
    )


def _waiting(work: Work) -> Tile:
    found = work.of(waits)
    past = [
        (each.opened_hours, each.ended_hours if each.begun_hours is None else each.begun_hours, each.jobs)
        for each in work.ended
        if not each.operation
    ]
    begun = [(each.opened_hours, each.begun_hours or 0, each.jobs) for each in work.of(runs)]
    return Tile(
        state="waiting",
        label="Waiting",
        number=work.number(waits),
        line=f"oldest {since(min(each.oldest for each in found), work.now)}" if found else "no job waits",
        href=_list(*(("state", each.value) for each in WAITING), _PIPELINES),
        points=_levels([(each.opened_hours, each.jobs) for each in found], [*past, *begun]),
    )


def _held(work: Work) -> Tile:
    found = work.of(is_held)
    line = "no app is on hold"
    if work.holds:
        first = work.holds[0]
        others = f" and {len(work.holds) - 1} more" if len(work.holds) > 1 else ""
        line = f"app {first.app}{others}, by {first.by}"
    elif found:
        line = "by suspended schedules"
    return Tile(
        state="held",
        label="Held",
        number=work.number(is_held),
        line=line,
        href=_list(("reason", Reason.W_HELD.value)) if found or not work.holds else "/board/overrides",
        points=_levels([(each.begun_hours or 0, each.jobs) for each in found]),
    )


def _alerts(work: Work) -> Tile:
    error = next((each.error for each in work.alerts if each.error), "")
    line = "none unsent"
    if work.unsent:
        line = f"unsent: {error.splitlines()[0]:.60}" if error else "not sent yet"
    return Tile(
        state="bell",
        label="Alerts",
        number=work.unsent,
        line=line,
        href="/board/alerts",
        points=_levels([(_hours(work.now, each.made_at), 1) for each in work.alerts]),
        bars=True,
        hot=True,
    )


def _has_failed(each: EndedWork) -> bool:
    return each.state is JobState.FAILED and not each.operation and each.ended_hours < HOURS


def _list(*filters: tuple[str, str]) -> str:
    return f"{JOBS}?{urlencode(filters)}"


def _hours(now: datetime, at: datetime) -> int:
    return max(0, (now - at) // _ONE_HOUR)


def _each_hour(counts: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """Return how many there were in each hour, from how many hours ago each was."""
    found = [0] * HOURS
    for hours, number in counts:
        if hours < HOURS:
            found[HOURS - 1 - hours] += number
    return tuple(found)


def _levels(now: Collection[tuple[int, int]], past: Sequence[tuple[int, int, int]] = ()) -> tuple[int, ...]:
    """Return how many there were at each full hour before now, the last one being now.

    Args:
        now: since how many hours something is so, and how many are.
        past: from how many hours ago to how many something was so.
    """
    return tuple(
        sum(number for since, number in now if since >= hours)
        + sum(number for since, until, number in past if since >= hours > until)
        for hours in reversed(range(HOURS))
    )


def sentence(work: Work) -> str:
    """Return the state of the project in two clauses: what needs a person, then the rest."""
    failed, late = work.failed, len(work.late)
    if failed and late:
        need = f"{plural(failed, 'job')} failed and {late} {'is' if late == 1 else 'are'} late"
    elif failed:
        need = f"{plural(failed, 'job')} failed in the last 24 hours"
    elif late:
        need = f"{late} {'job or period of data is' if late == 1 else 'jobs and periods of data are'} late"
    else:
        need = "Nothing has failed in the last 24 hours, and nothing is late"
    running, queued, waiting = (work.number(each) for each in (runs, is_queued, waits))
    rest = [
        f"{running} run{'s' if running == 1 else ''}" if running else "",
        f"{queued} {'is' if queued == 1 else 'are'} queued" if queued else "",
        f"{waiting} wait{'s' if waiting == 1 else ''}" if waiting else "",
    ]
    said = [each for each in rest if each]
    return f"{need}. {listed(said, 'and').capitalize() if said else 'No job runs or waits'}."
