"""The time line: what ran, waits and comes of each schedule, task and policy in a span of time.

It is the answer of REST, and a part of the page *Now*, which draws it. Facts and exact instants only: fields
that say what is usual are of the past, and nothing is simulated.
"""

from enum import StrEnum

from tidegate.domain.value import Value
from tidegate.listings.listing import Instant


class LaneState(StrEnum):
    """The state of a lane, or of a job in it; of a lane the first that a job of it is in."""

    FAILED = "failed"
    LATE = "late"
    HELD = "held"
    RUNNING = "running"
    QUEUED = "queued"
    WAITING = "waiting"
    SUCCEEDED = "succeeded"
    DISCARDED = "discarded"
    SUSPENDED = "suspended"
    AHEAD = "ahead"


class Bar(Value, kw_only=True, omit_defaults=True):
    """One attempt of a job, or its wait.

    Attributes:
        job: its id.
        key: of the job; "" without one.
        state: of the attempt: failed, held, running, queued, waiting, succeeded or discarded.
        waits: since when it waited for this attempt; null where it did not.
        start: when its run began; null before it.
        end: when it ended; null before it.
        attempt: its number.
        usual_end: of a run at work: its start and the median of the last 14 runs of its schedule; null if
            fewer than 5 are known.
        reason: the code of why it waits, has failed or was discarded; "" without one.
    """

    job: str
    key: str = ""
    state: LaneState
    waits: Instant | None = None
    start: Instant | None = None
    end: Instant | None = None
    attempt: int = 1
    usual_end: Instant | None = None
    reason: str = ""


class Opened(Value, kw_only=True):
    """A span in which the windows of a lane are open.

    Attributes:
        start: when they open, or the beginning of the time line.
        end: when they close, or the end of the time line.
    """

    start: Instant
    end: Instant


class LaneMark(Value, kw_only=True, omit_defaults=True):
    """An instant of a job, or of one to come, or of a dataset that the lane writes or waits for.

    Attributes:
        kind: wait_at_most or timeout, which end then, or deadline.
        at: when.
        key: of the job, or the period of the dataset; "" without one.
        dataset: "app/name" of the dataset whose deadline it is; "" for the deadline of a job.
        state: of a deadline: met or missed; else to_come.
    """

    kind: str
    at: Instant
    key: str = ""
    dataset: str = ""
    state: str = "to_come"


class UsualArrival(Value, kw_only=True):
    """When a dataset that a lane waits for usually lands.

    Attributes:
        dataset: "app/name".
        days: how many days with data this is of, 5 to 14.
        start: the earliest time of those days, on the next day on which it has not landed.
        end: the latest one.
        says: the same in words.
    """

    dataset: str
    days: int
    start: Instant
    end: Instant
    says: str


class Lane(Value, kw_only=True, omit_defaults=True):
    """One schedule, task or policy.

    Attributes:
        ref: "app/name", of a policy "app/policy:name".
        kind: schedule, task or policy.
        state: failed, if any of its jobs in the span has failed; late, held, running, queued or waiting, if
            any is; succeeded or discarded; suspended; ahead, if something comes and nothing was.
        says: its state in words.
        jobs: how many of its jobs are in the span.
        undrawn: how many of these have no bar here: the oldest ones.
        bars: its jobs, each attempt.
        times: when its crons fire, or its instances start: in the past, and exactly in the future.
        windows: when its windows are open.
        marks: when waits end, and deadlines.
        arrivals: when its data usually lands.
    """

    ref: str
    kind: str = "schedule"
    state: LaneState
    says: str
    jobs: int = 0
    undrawn: int = 0
    bars: tuple[Bar, ...] = ()
    times: tuple[Instant, ...] = ()
    windows: tuple[Opened, ...] = ()
    marks: tuple[LaneMark, ...] = ()
    arrivals: tuple[UsualArrival, ...] = ()


class AppLanes(Value, kw_only=True):
    """The lanes of an app.

    Attributes:
        app: its name.
        states: how many of all its lanes are in each state, also of those on other pages.
        lanes: those of the page, the worst state first, then the busiest.
    """

    app: str
    states: dict[str, int]
    lanes: tuple[Lane, ...]


class TimeLine(Value, kw_only=True):
    """What ran, waits and comes in a span of time.

    Attributes:
        at: the instant of the answer.
        start: of the span.
        end: of the span.
        zone: in which its axis is drawn: that of its apps, where they have the same one, else of the project.
        lanes: how many match.
        page: of these, from 1.
        pages: how many there are.
        apps: with lanes of the page, the busiest first.
    """

    at: Instant
    start: Instant
    end: Instant
    zone: str
    lanes: int
    page: int
    pages: int
    apps: tuple[AppLanes, ...]
