"""Explanation: what `why` says of one job, schedule or operation, as values for the command and for JSON."""

from collections.abc import Mapping
from datetime import datetime

from tidegate.domain.value import Value
from tidegate.domain.withheld import WithheldOutput, WithheldPartition
from tidegate.scheduler.explain.instances.awaited import Awaited
from tidegate.scheduler.explain.instances.roots import Root
from tidegate.scheduler.explain.unblock import Missing
from tidegate.scheduler.model.instance import Diagnostic
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.maintenance import Work
from tidegate.scheduler.model.records.override import OverrideKind
from tidegate.scheduler.model.verdict import Verdict


class BlockedDataset(Value, kw_only=True):
    """A dataset that cannot be written, because only a person can finish an earlier publish into it.

    Attributes:
        dataset: "app/dataset".
        commit: id of the commit that must be finished or abandoned first.
        error: the error of its last failed try.
        remedy: what to do.
    """

    dataset: str
    commit: str
    error: str
    remedy: str


class DeadHolder(Value, kw_only=True):
    """A run that holds a slot, or works on the job, and whose process is dead or silent.

    Attributes:
        resource: what it holds of what the job waits for; None for the run of the job itself.
        run_id: its id in Dagster.
        of: the job or program that it runs.
        process: its process and host, for people.
        state: for people: what is known of the process.
        since: its last sign of life.
        freed: for people: when its slot is released, and by whom.
    """

    resource: str | None
    run_id: str
    of: str
    process: str
    state: str
    since: datetime
    freed: str


class Overridden(Value, kw_only=True):
    """What was changed of the schedule, or of its app, by hand.

    Attributes:
        kind: what: status, specification, created, deleted or held.
        owner, reason: who did it, and why.
        since, expires_at: when it began, and reverts by itself; None for never.
        text: for people: what, by whom, why and until when.
    """

    kind: OverrideKind
    owner: str
    reason: str
    since: datetime
    expires_at: datetime | None
    text: str


class Explained(Value, kw_only=True):
    """Why one job has not run, or how it ended: what all faces show of it as it is.

    Attributes:
        schedule: "app/name"; of an operation "app/policy:name".
        at: the instant that is explained.
        status: active or suspended; deleted where it is gone.
        headline: one sentence.
        trigger: the tree of conditions; None for a job that no longer waits.
        constraints: the conditions beside it; empty for a job that no longer waits.
        next_check: when the scheduler looks at it again without a new event; None where time alone leads to
            nothing but its discard.
        discarded_at: when its timeout discards it; None for never, and while no timeout counts.
        never_discarded: it has no timeout, so that it waits without end.
        can_run_at: the next instant at which it can run if only time is missing; else None.
        missing: the missing conditions, each with its line of the YAML; all of them are needed, but of
            an `any` or `at_least` only as many as it requires.
        blocked: outputs of its program that cannot be written now, so that a run would fail at once.
            The engine does not know them; the caller that reads the commits adds them.
        dead: the runs that keep it waiting, or run it, and whose process is dead or silent. The engine does
            not know processes; the caller that does adds them.
        upstream: of an instance of a task: its upstream instances.
        diagnostics: of an instance: its dependencies without an upstream instance.
        roots: of an instance: where the chains of what it waits for begin, and what helps there.
        work: of an operation on a table: which one, also where no job waits for it.
        overrides: what was changed of the schedule by hand.
        business_dates: those that the run of the job is about, as far as it has collected them, sorted.
        missed: of a schedule: which fires it missed last and does not run, and how many are still to get
            jobs; "" without any.
        withheld: the materialisations that its `checks: passed` does not count yet.
        withheld_publishes: publishes that a failed check of a dataset withholds: of what it listens to or
            waits for, and of a failed job its own.
        open_jobs: of a schedule of which only the first jobs are explained: how many have not been launched,
            by reason, or by state where they have none; empty if all are explained.
    """

    schedule: str
    at: datetime
    status: str
    headline: str
    trigger: Verdict | None = None
    constraints: tuple[Verdict, ...] = ()
    next_check: datetime | None = None
    discarded_at: datetime | None = None
    never_discarded: bool = False
    can_run_at: datetime | None = None
    missing: tuple[Missing, ...] = ()
    blocked: tuple[BlockedDataset, ...] = ()
    dead: tuple[DeadHolder, ...] = ()
    upstream: tuple[Awaited, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    roots: tuple[Root, ...] = ()
    work: Work | None = None
    overrides: tuple[Overridden, ...] = ()
    business_dates: tuple[str, ...] = ()
    missed: str = ""
    withheld: tuple[WithheldPartition, ...] = ()
    withheld_publishes: tuple[WithheldOutput, ...] = ()
    open_jobs: Mapping[str, int] = {}


class Explanation(Explained, kw_only=True):
    """The same with the job and its history.

    Attributes:
        job: None for a schedule without a waiting job; then the verdicts are those of an empty job.
        history: the newest entries of the journal on the job, oldest first.
        failed: the newest job of a schedule without a waiting job, if it failed.
    """

    job: Job | None = None
    history: tuple[Entry, ...] = ()
    failed: Job | None = None
