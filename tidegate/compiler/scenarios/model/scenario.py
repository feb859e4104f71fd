"""A scenario: one of an app's `examples:`, read and checked (docs/scenarios.md).

It lists actions with their instants, and the expected results. `compiler.scenarios.reader` builds these
values from the YAML, and `scheduler.simulation` plays them on the real engine. `when` is an instant of
the virtual clock; `at` is the place in the YAML, as everywhere in the model.
"""

from datetime import datetime, timedelta
from typing import Any, Literal

from tidegate.compiler.scenarios.model.maintenance import (
    DisablePolicy,
    ExpectDebt,
    ExpectDiscardedOperation,
    ExpectDue,
    ExpectMaintain,
    MaintainByHand,
    OperationEnds,
    TableWritten,
)
from tidegate.compiler.scenarios.model.tasks import (
    ActOnInstance,
    CancelBackfill,
    ExpectInstance,
    ExpectInstances,
    ReportInstances,
    ResumeBackfill,
    StartBackfill,
)
from tidegate.domain.model import At
from tidegate.domain.value import Value

DEFAULT_RUN_TAKES = timedelta(minutes=1)
"""How long a run lasts when the scenario says nothing."""

RunStart = Literal["started"]
RunEnd = Literal["succeeded", "failed", "cancelled"]
SimulatedEnd = Literal["succeeded", "failed", "cancelled", "died", "withheld"]


class Behaviour(Value, kw_only=True):
    """The behaviour of a program's runs: their duration and their ends.

    Attributes:
        ends: the end of the first run, of the second one, and so on; the last one repeats. A run that
            `failed` has raised an error, one that `died` was killed, and the rows of one that is `withheld`
            break a check.
    """

    takes: timedelta = DEFAULT_RUN_TAKES
    ends: tuple[SimulatedEnd, ...] = ("succeeded",)

    def end_of(self, run: int) -> SimulatedEnd:
        """Return the end of the n-th run, counted from 0."""
        return self.ends[min(run, len(self.ends) - 1)]


# --- what is given ----------------------------------------------------------------------


class PartitionsArrive(Value, kw_only=True):
    """Partitions of a dataset arrive from outside. A dataset without partitions has the one key "".

    Attributes:
        checks: what becomes of the checks of an asset: `failed` withholds it from `checks: passed`, and
            `released` lets nothing arrive: the checks of the partitions that were withheld pass.
    """

    dataset: str
    keys: tuple[str, ...]
    bytes: int | None = None
    rows: int | None = None
    checks: Literal["passed", "failed", "released"] = "passed"


class RunSeen(Value, kw_only=True):
    """An external run is reported; the same `id` twice is the same run.

    Attributes:
        args: the arguments of the run.
        outputs: the keys of the partitions that it writes, by dataset; they arrive when it succeeds.
    """

    program: str
    id: str
    status: RunStart | RunEnd
    args: dict[str, Any] = {}
    outputs: dict[str, tuple[str, ...]] = {}


class Suspend(Value, kw_only=True):
    """A person suspends a schedule.

    Attributes:
        expires: how long after it that reverts; None for never.
    """

    schedule: str
    expires: timedelta | None = None


class Resume(Value, kw_only=True):
    """A person resumes a schedule.

    Attributes:
        expires: how long after it that reverts; None for never.
    """

    schedule: str
    expires: timedelta | None = None


class Delete(Value, kw_only=True):
    """A schedule is deleted."""

    schedule: str


class Update(Value, kw_only=True):
    """Schedules are changed: each mapping is merged over the deployed specification.

    Attributes:
        expires: how long after it that reverts; None for a change of what is deployed.
    """

    changes: dict[str, dict[str, Any]]
    expires: timedelta | None = None


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


class Replay(Value, kw_only=True):
    """The events of a dataset are fed once more to the schedules that lack them; no keys mean all."""

    dataset: str
    keys: tuple[str, ...] = ()
    again: bool = False


class ReportGauges(Value, kw_only=True):
    """Values of gauges are reported, by name."""

    values: dict[str, float]


class Restart(Value, kw_only=True):
    """The scheduler stops without finishing its work, and restarts at once."""


class Down(Value, kw_only=True):
    """The scheduler is down for a time, and reads the missed events after its restart."""

    duration: timedelta


class FailLaunch(Value, kw_only=True):
    """The next launches of a schedule fail."""

    schedule: str
    times: int = 1


class EndWithheld(Value, kw_only=True):
    """A person releases or abandons the newest withheld publish of a schedule or task.

    Attributes:
        key: of the job, or the scheduled time of the instance; None for any.
    """

    schedule: str
    key: str | None = None
    do: Literal["release", "abandon"]


Action = (
    ActOnInstance
    | ReportInstances
    | StartBackfill
    | CancelBackfill
    | ResumeBackfill
    | TableWritten
    | OperationEnds
    | MaintainByHand
    | DisablePolicy
    | PartitionsArrive
    | RunSeen
    | Suspend
    | Resume
    | Delete
    | Update
    | Deploy
    | TriggerByHand
    | Replay
    | ReportGauges
    | Restart
    | Down
    | FailLaunch
    | EndWithheld
)


class Given(Value, kw_only=True):
    """One action at one instant."""

    when: datetime
    action: Action
    at: At


class ExpectLaunch(Value, kw_only=True):
    """A run is launched. Attributes that are None are not compared.

    Attributes:
        partitions: all keys of its manifest over all datasets; for the run of a cron, its business date; for
            an instance of a task, the partitions that it writes.
        scheduled, business_date, number: of an instance of a task, and its backfill.
        provisional, repair: whether members of its trigger were missing, and whether it repairs a job.
    """

    schedule: str
    when: datetime | None = None
    scheduled: str | None = None
    business_date: str | None = None
    number: int | None = None
    partitions: tuple[str, ...] | None = None
    args: dict[str, Any] | None = None
    provisional: bool | None = None
    repair: bool | None = None


class ExpectDiscarded(Value, kw_only=True):
    """A job is discarded, or is a dead letter."""

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
    """A given action is refused with a code."""

    code: str
    when: datetime | None = None


class ExpectLate(Value, kw_only=True):
    """A job of a schedule or task, or a period of a dataset, misses its deadline at an instant.

    Attributes:
        name: of the schedule, task or dataset.
        key: of the job, or the period; None is not compared.
    """

    name: str
    when: datetime | None = None
    key: str | None = None


class ExpectWithheld(Value, kw_only=True):
    """The publish of a run of a schedule is withheld at the end of an instant.

    Attributes:
        key: of the job, or the scheduled time of the instance; None is not compared.
    """

    schedule: str
    when: datetime
    key: str | None = None


Expected = (
    ExpectLaunch
    | ExpectDiscarded
    | ExpectLate
    | ExpectWaiting
    | ExpectNone
    | ExpectWithheld
    | ExpectInstance
    | ExpectInstances
    | ExpectMaintain
    | ExpectDiscardedOperation
    | ExpectDue
    | ExpectDebt
    | ExpectRefused
)


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
        behaviours: by program; a program that is not named has the default behaviour. "program@KEY" holds
            for the runs of one scheduled time of a task, in place of the program's own.
        until: the last instant that is played.
        expect_only: the schedules and tables whose launches, starts and discards must all be expected; None
            means all.
    """

    name: str
    start: datetime
    until: datetime
    behaviours: dict[str, Behaviour] = {}
    given: tuple[Given, ...] = ()
    expect: tuple[Expectation, ...] = ()
    expect_only: tuple[str, ...] | None = None
    at: At
