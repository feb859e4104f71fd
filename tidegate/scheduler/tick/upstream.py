"""Upstream instances: what each dependency of some instances has picked, read by index.

Part of the shell. A question is about one upstream task and the container of one instance, so its cost does
not depend on how many instances the store holds. `domain.tasks.select` has the rules.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Protocol

from tidegate.domain.model import Dependency, TaskTrigger
from tidegate.domain.part_name import whole_name
from tidegate.domain.tasks.grid import GENERATED_BEFORE, day_begins, generation_time
from tidegate.domain.tasks.holes import Hole, Named, expected_names, hole_between, missing_of
from tidegate.domain.tasks.key import last_day_of, local_day
from tidegate.domain.tasks.select import Choice, choice_of, pick
from tidegate.domain.value import Value
from tidegate.scheduler.decision.view.upstream import Upstream
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.store.engine_rows import InstanceRows

BUSINESS_DAY = timedelta(hours=26)
"""More than a day lasts, over any change of the clocks."""

MICROSECOND = timedelta(microseconds=1)


class Rows(InstanceRows, Protocol):
    """The rows that dependencies are about; see `scheduler.store.protocol.Reader` for each method."""

    def schedules(self, *, refs: Collection[str]) -> Sequence[ScheduleState]: ...

    def cursor(self, name: str) -> Any: ...


def load_upstream(
    rows: Rows, jobs: Sequence[Job], states: Mapping[str, ScheduleState], now: datetime | None = None
) -> dict[str, tuple[Upstream, ...]]:
    """Return what the dependencies of instances have picked, by job.

    Args:
        jobs: any jobs; empty runs, and those that are not instances, are left out. Those of a schedule in a
            backfill wait for the lots before only.
        states: the schedules of the jobs, by ref.
        now: for a decision at an instant: nothing is picked where instances are still to be made.
    """
    asking = [
        _Asking(job, job.instance, states[job.schedule].spec.as_task)
        for job in jobs
        if job.instance is not None
        and not job.instance.empty
        and job.schedule in states
        and states[job.schedule].spec.task is not None
    ]
    keyed = [job for job in jobs if job.instance is not None and job.instance.keyed]
    named = {ref for each in asking for ref in each.upstream()}
    tasks = {state.ref: state for state in rows.schedules(refs=named)} if named else {}
    questions = _questions(rows, asking, tasks, now)
    answers, lots = _answers(rows, questions.values()), _Lots(rows)
    found: dict[str, tuple[Upstream, ...]] = {}
    for each in asking:
        picked = [_picked(rows, each, dependency, questions, answers) for dependency in each.dependencies]
        found[each.job.id] = (*lots.before(each.instance), *(one for one in picked if one is not None))
    return found | {job.id: lots.before(job.of_task) for job in keyed}


class _Asking:
    """An instance that asks for its upstream instances."""

    def __init__(self, job: Job, instance: Instance, task: TaskTrigger) -> None:
        self.job = job
        self.instance = instance
        self.task = task
        self.dependencies = task.depends_on

    def upstream(self) -> Iterator[str]:
        """Yield its upstream tasks, "app/name"."""
        for each in self.dependencies:
            if not each.itself:
                yield whole_name(self.job.app, each.task)


class _Question(Value, kw_only=True):
    """One dependency of one instance: where it looks, and how it picks.

    Attributes:
        task: the upstream task.
        range_: the scheduled times to read, and the number of the backfill.
        behind: whether instances of the task are still to be made there.
        until: when the last of them is made, if that is not due yet.
        expected: the names that a calendar period or a span has, of which all are wanted; () for others.
    """

    task: str
    choice: Choice
    range_: tuple[datetime, datetime, int]
    behind: bool
    until: datetime | None = None
    expected: tuple[str, ...] = ()


Questions = Mapping[tuple[str, Dependency], _Question | None]
"""By job and dependency; None for a task that is not deployed. Tasks outside a backfill have none."""


def _questions(
    rows: Rows, asking: Sequence[_Asking], tasks: Mapping[str, ScheduleState], now: datetime | None
) -> Questions:
    members: dict[int, Collection[str]] = {}
    found: dict[tuple[str, Dependency], _Question | None] = {}
    for each in asking:
        number = each.instance.number
        if number and number not in members:
            request: dict[str, Any] = rows.cursor(backfill_cursor(number)) or {}
            members[number] = request.get("tasks", ())
        for dependency in each.dependencies:
            ref = whole_name(each.job.app, dependency.task)
            if not dependency.itself and (not number or ref in members[number]):
                state = tasks.get(ref)
                task = None if state is None else state.spec.task
                found[each.job.id, dependency] = (
                    None if state is None or task is None else _question(each, dependency, state, task, now)
                )
    return found


def _question(
    asking: _Asking,
    dependency: Dependency,
    state: ScheduleState,
    upstream: TaskTrigger,
    now: datetime | None,
) -> _Question:
    instance, task = asking.instance, asking.task
    inside = bool(instance.number)
    current = instance.business if inside else instance.scheduled
    business = date.fromisoformat(instance.business_date[:10])
    choice = choice_of(dependency, task, upstream, current, backfill=inside, business=business)
    first, last = choice.container.start, choice.container.end - MICROSECOND
    if inside:
        # Its scheduled times are later than the business dates, by many days over holidays.
        last = day_begins(upstream, last_day_of(upstream, local_day(upstream, last))) + BUSINESS_DAY
    until = None if now is None or inside else _made_at(state, upstream, choice)
    holes = dependency.is_long and choice.select == "all" and not inside
    return _Question(
        task=state.ref,
        choice=choice,
        range_=(first, last, instance.number),
        behind=until is not None
        or (now is not None and not inside and _is_behind(state, choice.container.end, now)),
        until=until,
        expected=tuple(expected_names(upstream, choice)) if holes and until is None else (),
    )


def _made_at(state: ScheduleState, upstream: TaskTrigger, choice: Choice) -> datetime | None:
    """Return when the last instances of a calendar period are made; None if all are."""
    due = state.next_fire_at
    if due is None or choice.dates is None or choice.select not in ("all", "last"):
        return None
    last = last_day_of(upstream, choice.dates[1])
    if upstream.valid_to is not None:
        last = min(last, upstream.valid_to)
    return generation_time(upstream, last) if local_day(upstream, due + GENERATED_BEFORE) <= last else None


def _is_behind(state: ScheduleState, end: datetime, now: datetime) -> bool:
    """Return whether a task has a day to make that is due, and that begins before an instant."""
    due = state.next_fire_at
    return due is not None and due <= now and due + GENERATED_BEFORE < end


Answers = Mapping[tuple[str, tuple[datetime, datetime, int]], Sequence[Job]]
"""The instances of a task in a range, in order."""


def _answers(rows: Rows, questions: Iterable[_Question | None]) -> Answers:
    """Read the instances that questions are about: all tasks of one range together."""
    ranges: dict[tuple[datetime, datetime, int], set[str]] = {}
    for each in questions:
        if each is not None and not each.behind:
            ranges.setdefault(each.range_, set()).add(each.task)
    found: dict[tuple[str, tuple[datetime, datetime, int]], list[Job]] = {}
    for range_, tasks in ranges.items():
        first, last, number = range_
        for job in rows.instances(tasks, first, last, backfill=number):
            found.setdefault((job.schedule, range_), []).append(job)
    return found


def _picked(
    rows: Rows, asking: _Asking, dependency: Dependency, questions: Questions, answers: Answers
) -> Upstream | None:
    """Return what a dependency has picked; None for a task outside the instance's backfill."""
    job, instance = asking.job, asking.instance
    if dependency.itself:
        before = rows.instance_before(job.schedule, instance.scheduled, backfill=instance.number)
        mine = () if before is None else (before,)
        hole = None if before is None or instance.number else _hole_before(asking.task, before, instance)
        return Upstream(
            task=job.schedule,
            rule="the one before",
            picked=mine,
            found=len(mine),
            recorded=bool(mine),
            hole=hole,
        )
    if (job.id, dependency) not in questions:
        return None
    question = questions[job.id, dependency]
    if question is None:
        return Upstream(task=whole_name(job.app, dependency.task), rule="its task is not deployed")
    if question.behind:
        rule, until = question.choice.text, question.until
        return Upstream(task=question.task, rule=rule, recorded=False, behind=True, until=until)
    choice, inside = question.choice, bool(instance.number)
    timed = [
        (each.instance.business if inside else each.instance.scheduled, each)
        for each in answers.get((question.task, question.range_), ())
        if each.instance is not None and _is_inside(each.instance, instance, choice)
    ]
    within = [each for at, each in timed if choice.container.start <= at < choice.container.end]
    hole = missing_of(question.expected, {each.key for each in within})
    picked = pick(choice, timed)
    return Upstream(task=question.task, rule=choice.text, picked=picked, found=len(within), hole=hole)


def _is_inside(each: Instance, instance: Instance, choice: Choice) -> bool:
    """Return whether an upstream instance is of the calendar period, and in a backfill of no later lot."""
    if instance.number and each.lot > instance.lot:
        return False
    if choice.dates is None:
        return True
    first, last = choice.dates
    return first.isoformat() <= each.business_date[:10] <= last.isoformat()


def _hole_before(task: TaskTrigger, before: Job, instance: Instance) -> Hole | None:
    return hole_between(
        task,
        Named(scheduled=before.of_task.scheduled, key=before.key),
        Named(scheduled=instance.scheduled, key=instance.key),
    )


class _Lots:
    """The instances of backfills by lot, each backfill read once."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._backfills: dict[int, tuple[Job, ...]] = {}

    def before(self, instance: Instance) -> tuple[Upstream, ...]:
        """Return what an instance of a later lot waits for: all lots before it must be successful."""
        if not instance.lot:
            return ()
        number = instance.number
        if number not in self._backfills:
            self._backfills[number] = self._rows.instances(backfill=number)
        before = [
            job
            for job in self._backfills[number]
            if job.instance is not None
            and job.instance.lot < instance.lot
            and job.state is not JobState.SUCCEEDED
        ]
        return tuple(
            Upstream(
                task=job.schedule,
                rule=f"lot {job.of_task.lot + 1} of backfill {number}",
                picked=(job,),
                found=1,
                recorded=False,
                lot=True,
            )
            for job in before[:1]
        )


def backfill_cursor(number: int) -> str:
    """Return the name of the cursor that holds the request of a backfill."""
    return f"backfill:{number}"
