"""What comes next, in the order of time: ends of runs and waits, openings, data, fires and starts.

It is read off the time line, so both say the same; what fires first is asked of the store too, since it may
be of a lane of another page.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from tidegate.domain.part_name import name_of
from tidegate.domain.value import Value
from tidegate.domain.wording import plural
from tidegate.listings.time_line import Lane, LaneState, TimeLine
from tidegate.scheduler.explain.answer import Sentence
from tidegate.scheduler.explain.explanation import Explanation
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.store.listing_reader import ListingReader

COMING_MAX = 9

_WORDS = {
    "wait_at_most": ("wait_at_most of {name} ends", "then it no longer waits for the rest"),
    "timeout": ("timeout of {name} ends", "then it waits no longer"),
    "deadline": ("deadline of {name}", ""),
}


class Coming(Value, kw_only=True):
    """Something that comes.

    Attributes:
        about: whether the instant is what is usual, and not exact.
        state: whose colour it has.
        what: a sentence without its end.
        note: more of it.
        ref: the schedule, task or policy; "" for several.
    """

    at: datetime
    about: bool = False
    state: str = "waiting"
    what: str
    note: str = ""
    ref: str = ""


def coming(reader: ListingReader, line: TimeLine, apps: frozenset[str] | None) -> tuple[Coming, ...]:
    """Return the next of what comes."""
    lanes = [lane for app in line.apps for lane in app.lanes]
    found = [each for lane in lanes for each in _of_lane(lane, line.at)]
    found += _openings(lanes, line.at)
    shown = {(each.ref, each.at) for each in found}
    due = reader.due_schedules(line.end, COMING_MAX)
    found += [each for each in _fires(due, line.at, apps) if (each.ref, each.at) not in shown]
    # A dataset has its deadline in each lane that waits for it.
    ahead = {(each.at, each.what, each.note): each for each in found if each.at >= line.at}.values()
    return tuple(sorted(ahead, key=lambda each: (each.at, each.what))[:COMING_MAX])


def _of_lane(lane: Lane, now: datetime) -> Iterator[Coming]:
    name = name_of(lane.ref)
    for bar in lane.bars:
        if bar.usual_end is not None and bar.state is LaneState.RUNNING:
            note = f"{bar.key}, as its last runs took" if bar.key else "as its last runs took"
            yield Coming(
                at=bar.usual_end, about=True, state="running", what=f"{name} ends", note=note, ref=lane.ref
            )
    for mark in lane.marks:
        if mark.state == "to_come" and mark.at >= now:
            what, note = _WORDS[mark.kind]
            said = ", ".join(each for each in (mark.key, note) if each)
            state = "late" if mark.kind == "deadline" else "waiting"
            of = name_of(mark.dataset) if mark.dataset else name
            yield Coming(at=mark.at, state=state, what=what.format(name=of), note=said, ref=lane.ref)
    for each in lane.arrivals:
        if each.start >= now:
            waits = f"{name} takes it"
            yield Coming(
                at=each.start, about=True, what=f"{name_of(each.dataset)} lands", note=waits, ref=lane.ref
            )
    starts = "starts" if lane.kind == "task" else "fires"
    for at in (at for at in lane.times if at >= now):
        yield Coming(at=at, state="queued", what=f"{name} {starts}", ref=lane.ref)
        # The others of the lane are in the time line.
        break


def forecast(
    lane: Lane, explanation: Explanation, fires: Sequence[datetime], now: datetime
) -> tuple[Sentence, ...]:
    """Return what is known to come to a job, or a schedule without one: exactly, or as it usually is.

    Args:
        lane: of the schedule, with what is to come.
        fires: the next ones, or starts of instances.
    """
    found: list[Sentence] = []
    job, trigger = explanation.job, explanation.trigger
    for bar in lane.bars:
        if job is not None and bar.job == job.id and bar.usual_end is not None:
            verb = "usually ends" if bar.usual_end >= now else "would usually have ended"
            found.append(Sentence(text=f"By the median of its last runs it {verb}", at=bar.usual_end))
    if trigger is not None and not trigger.met:
        for each in lane.arrivals:
            if each.start > now:
                found.append(Sentence(text=f"{each.says}; it comes again", at=each.start))
            else:
                found.append(Sentence(text=f"{each.says}; it usually is there", at=each.end))
    if fires:
        one = "It" if job is None else "The schedule"
        fire = f"{one} fires next" if lane.kind == "schedule" else "Its next instance starts"
        found.append(Sentence(text=fire, at=fires[0]))
    return tuple(found)


def _openings(lanes: Iterable[Lane], now: datetime) -> Iterator[Coming]:
    """Yield when windows open for what waits, those of one instant together."""
    opening: dict[datetime, list[Lane]] = {}
    for lane in lanes:
        first = next((each.start for each in lane.windows if each.start > now), None)
        if first is not None and any(bar.state is LaneState.WAITING for bar in lane.bars):
            opening.setdefault(first, []).append(lane)
    for at, several in opening.items():
        jobs = sum(bar.state is LaneState.WAITING for lane in several for bar in lane.bars)
        one = len(several) == 1
        what = (
            f"Window of {name_of(several[0].ref)} opens" if one else f"Windows of {len(several)} lanes open"
        )
        verb = "waits" if jobs == 1 else "wait"
        yield Coming(
            at=at, what=what, note=f"{plural(jobs, 'job')} {verb}", ref=several[0].ref if one else ""
        )


def _fires(states: Iterable[ScheduleState], now: datetime, apps: frozenset[str] | None) -> Iterator[Coming]:
    for state in states:
        at = state.next_fire_at
        if at is not None and at >= now and (apps is None or state.app in apps):
            yield Coming(at=at, state="queued", what=f"{state.name} fires", ref=state.ref)
