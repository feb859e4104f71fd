"""A scenario: one of an app's `examples:`, read and checked (docs/scenarios.md).

It says what is given at which instants and what is expected to come of it. The values here
are what `compiler.scenarios.reader` makes of the YAML and what `scheduler.simulation` plays on
the real engine; they know neither text nor engine. `when` is an instant of the virtual clock,
`at`, as everywhere in the model, the place in the YAML.
"""

from datetime import datetime, timedelta
from typing import Any, Literal

from tidegate.domain.model import At
from tidegate.domain.value import Value

DEFAULT_RUN_TAKES = timedelta(minutes=1)
"""How long a run lasts when the scenario says nothing."""

RunStart = Literal["started"]
RunEnd = Literal["succeeded", "failed", "cancelled"]


class Behaviour(Value, kw_only=True):
    """How the runs of a program go: they end so, this long after they began."""

    takes: timedelta = DEFAULT_RUN_TAKES
    ends: RunEnd = "succeeded"


# --- what is given ----------------------------------------------------------------------


class PartitionsArrive(Value, kw_only=True):
    """Partitions of a dataset come from elsewhere. A dataset without partitions has the one key ""."""

    dataset: str
    keys: tuple[str, ...]
    bytes: int | None = None
    rows: int | None = None


class RunSeen(Value, kw_only=True):
    """A run that somebody else started is seen; the same `id` twice is the same run.

    Attributes:
        args: what it was started with.
        outputs: the keys of the partitions that it writes, by dataset; they have come once it succeeded.
    """

    program: str
    id: str
    status: RunStart | RunEnd
    args: dict[str, Any] = {}
    outputs: dict[str, tuple[str, ...]] = {}


class Suspend(Value, kw_only=True):
    """A person suspends a schedule."""

    schedule: str


class Resume(Value, kw_only=True):
    """A person resumes a schedule."""

    schedule: str


class Delete(Value, kw_only=True):
    """A schedule is deleted."""

    schedule: str


class Update(Value, kw_only=True):
    """Schedules are changed: each mapping is merged over the specification that stands."""

    changes: dict[str, dict[str, Any]]


class Deploy(Value, kw_only=True):
    """An app is deployed, from a text or from a file beside the one that holds the example."""

    text: str | None = None
    file: str | None = None
    update_schedules: bool = True


class TriggerByHand(Value, kw_only=True):
    """A person triggers a schedule (rule 17)."""

    schedule: str
    key: str = ""
    force: bool = False


class ReportGauges(Value, kw_only=True):
    """Somebody reports numbers, by the names of their gauges."""

    values: dict[str, float]


class Restart(Value, kw_only=True):
    """The scheduler dies with whatever it was about to hand out, and comes back at once."""


class Down(Value, kw_only=True):
    """The scheduler is away for a time; what happens meanwhile is read at its return."""

    duration: timedelta


class FailLaunch(Value, kw_only=True):
    """The next launches of a schedule come to nothing."""

    schedule: str
    times: int = 1


Action = (
    PartitionsArrive
    | RunSeen
    | Suspend
    | Resume
    | Delete
    | Update
    | Deploy
    | TriggerByHand
    | ReportGauges
    | Restart
    | Down
    | FailLaunch
)


class Given(Value, kw_only=True):
    """One action at one instant."""

    when: datetime
    action: Action
    at: At


# --- what is expected -------------------------------------------------------------------


class ExpectLaunch(Value, kw_only=True):
    """A run is launched. What is None is not looked at.

    Attributes:
        partitions: every key of its manifest over all datasets; of a cron's run its business date.
    """

    schedule: str
    when: datetime | None = None
    partitions: tuple[str, ...] | None = None
    args: dict[str, Any] | None = None


class ExpectDiscarded(Value, kw_only=True):
    """A job is given up, or is a dead letter."""

    schedule: str
    when: datetime | None = None
    reason: str | None = None


class ExpectWaiting(Value, kw_only=True):
    """A job waits at the end of an instant."""

    schedule: str
    when: datetime
    reason: str | None = None
    next_check: datetime | None = None
    collected: int | None = None


class ExpectNone(Value, kw_only=True):
    """A schedule has neither a waiting nor a running job at the end of an instant."""

    schedule: str
    when: datetime


class ExpectRefused(Value, kw_only=True):
    """A given `update` or `deploy` is refused with a code."""

    code: str
    when: datetime | None = None


Expected = ExpectLaunch | ExpectDiscarded | ExpectWaiting | ExpectNone | ExpectRefused


class Expectation(Value, kw_only=True):
    """One expectation.

    Attributes:
        within: how far an instant may be off; zero asks for the very instant.
    """

    expected: Expected
    within: timedelta = timedelta(0)
    at: At


class Scenario(Value, kw_only=True):
    """One example of an app.

    Attributes:
        behaviours: by program; a program that is not named has the default behaviour.
        until: the last instant that is played.
        expect_only: the schedules whose launches and discards must all be expected; None means all.
    """

    name: str
    start: datetime
    until: datetime
    behaviours: dict[str, Behaviour] = {}
    given: tuple[Given, ...] = ()
    expect: tuple[Expectation, ...] = ()
    expect_only: tuple[str, ...] | None = None
    at: At
