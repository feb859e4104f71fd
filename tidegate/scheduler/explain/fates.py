"""Fates: what becomes of jobs, schedules and apps by an action of a person, in sentences.

Alike jobs are one sentence with their number: "3 waiting jobs of shop/report are discarded: …". The sentence
is what a person agrees to; its notes, such as what a job waits for next, may change at any moment.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from tidegate.domain.part_name import name_of
from tidegate.domain.value import Value
from tidegate.domain.wording import capitalized, first_of, plural
from tidegate.scheduler.explain.answer import Sentence, answer
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import FINISHED, WAITING, ByHand, Job, JobState
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.engine_reader import EngineReader

KEYS_SHOWN = 5
"""The most jobs that a sentence names; it counts the others."""

FORESEEN = 3
"""Of so many jobs it is said what comes next."""

COUNTED_MAX = 1_000
"""Jobs beside those that are changed are counted up to here."""

ChangedJobs = Mapping[str, tuple[Job | None, Job]]
"""Jobs by id, as they were and as they are."""

ChangedSchedules = Mapping[str, tuple[ScheduleState | None, ScheduleState | None]]
"""Schedules by ref, as they were and as they are; None for one that is not deployed."""


class Fate(Value, kw_only=True):
    """What becomes of some jobs, or of a schedule.

    Attributes:
        state: that its sign is of: discarded, waiting, running, succeeded, held, suspended or active.
        text: one sentence.
        notes: more of it: why, and when it goes on.
        jobs: how many jobs it is about.
    """

    state: str
    text: str
    notes: tuple[Sentence, ...] = ()
    jobs: int = 0


def fates_of_apps(reader: EngineReader, before: Iterable[str], after: Iterable[str]) -> Iterator[Fate]:
    """Yield what becomes of apps that are held, or released.

    Args:
        before, after: the apps on hold.
    """
    was, held = frozenset(before), frozenset(after)
    yield from (_held(reader, app) for app in sorted(held - was))
    yield from (_released(reader, app) for app in sorted(was - held))


def _held(reader: EngineReader, app: str) -> Fate:
    waiting = _counted(reader, "job", (*WAITING, JobState.PENDING_LAUNCH), apps=(app,))
    notes = (
        Sentence(text=f"Its jobs wait on, and nothing is discarded: {waiting} of it waits now."),
        _what_runs(reader, apps=(app,)),
    )
    return Fate(state="held", text=f"{app} is on hold: nothing of it is launched", notes=notes)


def _released(reader: EngineReader, app: str) -> Fate:
    decided = _counted(reader, "launch", (JobState.PENDING_LAUNCH,), apps=(app,))
    note = Sentence(text=f"{capitalized(decided)} was decided meanwhile.")
    return Fate(state="active", text=f"{app} is released: what was decided is launched first", notes=(note,))


def _what_runs(
    reader: EngineReader, *, apps: tuple[str, ...] | None = None, schedules: tuple[str, ...] | None = None
) -> Sentence:
    runs = _counted(reader, "job", (JobState.LAUNCHED,), apps=apps, schedules=schedules)
    return Sentence(text=f"Nothing that runs is touched: {runs} of it runs now.")


def _counted(
    reader: EngineReader,
    noun: str,
    states: tuple[JobState, ...],
    *,
    apps: tuple[str, ...] | None = None,
    schedules: tuple[str, ...] | None = None,
) -> str:
    """Return a number of jobs with its noun, counted up to a bound."""
    found = len(reader.jobs(states=states, apps=apps, schedules=schedules, limit=COUNTED_MAX))
    return f"{plural(found, noun)}{' or more' if found == COUNTED_MAX else ''}" if found else f"no {noun}"


_NEW_EVENTS = {
    "discard": "New events do not count until it is resumed.",
    "drain": "New events do not count until it is resumed; what waits goes on.",
    "hold": "New events do not count until it is resumed; what waits is kept.",
    "backlog": "New events are kept, and count when it is resumed.",
}
"""What a suspended schedule does with new events, by its `on_suspend`."""


def fates_of_schedules(reader: EngineReader, changed: ChangedSchedules) -> Iterator[Fate]:
    """Yield what has become of schedules, by ref."""
    for ref, (before, after) in sorted(changed.items()):
        if after is None:
            yield Fate(state="discarded", text=f"{ref} is deleted")
        elif before is None:
            yield Fate(state="active", text=f"{ref} is created, {after.status}")
        elif before.fingerprint != after.fingerprint:
            yield Fate(state="active", text=f"{ref} is as it was deployed")
        elif after.status != before.status and after.active:
            note = Sentence(text="Events and fires from now on count.")
            yield Fate(state="active", text=f"{ref} is active again", notes=(note,))
        elif after.status != before.status:
            notes = (Sentence(text=_NEW_EVENTS[after.spec.on_suspend]), _what_runs(reader, schedules=(ref,)))
            yield Fate(state="suspended", text=f"{ref} is suspended", notes=notes)


class _Became(NamedTuple):
    """What has become of a job; those of which the same can be said are one fate.

    Attributes:
        what: such as "waiting job".
        does: its verb, for one job and for several.
    """

    state: str
    what: str
    does: tuple[str, str]
    note: str = ""


def fates_of_jobs(reader: EngineReader, changed: ChangedJobs, now: datetime) -> Iterator[Fate]:
    """Yield what has become of jobs, by schedule."""
    found = [
        (job.schedule, became, job)
        for before, job in changed.values()
        if (became := _became(before, job)) is not None
    ]
    found.sort(key=lambda each: (each[0], each[1], each[2].key, each[2].id))
    foreseen = len(found) <= FORESEEN
    for (ref, became), group in groupby(found, key=lambda each: each[:2]):
        jobs = [job for _, _, job in group]
        shown = first_of([job.key or name_of(ref) for job in jobs], KEYS_SHOWN)
        notes = [Sentence(text=became.note)] if became.note else []
        if foreseen:
            notes += [each for job in jobs for each in _what_comes(reader, job, now)]
        yield Fate(
            state=became.state,
            text=f"{plural(len(jobs), became.what)} of {ref} {became.does[len(jobs) > 1]}: {shown}",
            notes=tuple(notes),
            jobs=len(jobs),
        )


def _what_comes(reader: EngineReader, job: Job, now: datetime) -> Iterator[Sentence]:
    """Yield what a job waits for after the action."""
    if not job.waiting and job.state is not JobState.PENDING_LAUNCH:
        return
    with suppress(Refused):
        (found,) = explain(reader, job.id, now)
        said = answer(found)
        yield said.says
        if said.then is not None:
            yield said.then


def _is(text: str) -> tuple[str, str]:
    return f"is {text}", f"are {text}"


_WAS = {
    JobState.PENDING_LAUNCH: "decided ",
    JobState.LAUNCHED: "running ",
    JobState.SUCCEEDED: "successful ",
    JobState.FAILED: "failed ",
    JobState.PAUSED: "paused ",
}


def _became(before: Job | None, after: Job) -> _Became | None:
    """Return what has become of a job; None if nothing that people see."""
    noun = "instance" if after.instance else "operation" if after.maintenance else "job"
    if before is None:
        met = " with its trigger met" if after.by_hand is ByHand.TRIGGER else ""
        forced = " and forced" if after.by_hand is ByHand.FORCE else ""
        return _Became("waiting", f"new {noun}", _is(f"opened{met}{forced}"), _by_hand(after))
    what = f"{_WAS.get(before.state, 'waiting ')}{noun}"
    if after.state is not before.state:
        return _in_another_state(before, after, what)
    if after.by_hand is not None and after.by_hand is not before.by_hand:
        does = _is("forced") if after.by_hand is ByHand.FORCE else _is("triggered")
        return _Became("running", what, does, _by_hand(after))
    if before.retry_at is not None and after.retry_at is None:
        return _Became("waiting", what, _is("tried again without the rest of the pause"))
    if (after.held_at is None) is not (before.held_at is None):
        held = after.held_at is not None
        return _Became("held" if held else "waiting", what, _is("held" if held else "released"))
    return None


def _in_another_state(before: Job, after: Job, what: str) -> _Became | None:
    match after.state:
        case JobState.DISCARDED:
            return _Became("discarded", what, _is("discarded"), _why(after))
        case JobState.PAUSED:
            stopped = "stopped and paused" if before.state is JobState.LAUNCHED else "paused"
            return _Became("held", what, _is(stopped), "Nothing of it starts until it is resumed.")
        case JobState.SUCCEEDED:
            return _Became("succeeded", what, ("counts as successful", "count as successful"))
        case _ if before.state is JobState.LAUNCHED:
            return _Became("waiting", what, ("is stopped and runs again", "are stopped and run again"))
        case _ if before.state in FINISHED or before.state is JobState.PAUSED:
            attempt = f"as attempt {after.attempt}" if after.attempt > 1 else "from the start"
            return _Became("waiting", what, (f"runs again, {attempt}", f"run again, {attempt}"))
        case JobState.LAUNCHED | JobState.PENDING_LAUNCH:
            return _Became("running", what, _is("started"))
        case _:
            return None


def _why(job: Job) -> str:
    """Return why a job is discarded: words first, then the code."""
    if job.reason is None:
        return ""
    return f"{capitalized(job.reason.summary.removeprefix('discarded: '))} ({job.reason})."


def _by_hand(job: Job) -> str:
    match job.by_hand:
        case ByHand.FORCE:
            return "Its trigger and its constraints do not count, but for free slots."
        case ByHand.TRIGGER:
            return "Its trigger counts as met; its constraints still apply."
        case _:
            return ""
