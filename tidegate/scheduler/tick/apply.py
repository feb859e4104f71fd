"""Apply: turn decisions into rows and journal entries of the working set.

It decides nothing: decisions come from `scheduler.decision.decide`, launch plans from
`scheduler.decision.launch.plan`. An error in the decision about one job postpones only that job.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, assert_never

import msgspec

from tidegate.domain.duration import is_never
from tidegate.scheduler.decision.decide import decide, decide_again
from tidegate.scheduler.decision.fold.after import record
from tidegate.scheduler.decision.fold.end_job import discard_entry, end_job, reported_entry
from tidegate.scheduler.decision.instances.decide import began_at
from tidegate.scheduler.decision.launch.dates import date_of_job
from tidegate.scheduler.decision.launch.existing import with_reads
from tidegate.scheduler.decision.launch.input import with_input
from tidegate.scheduler.decision.launch.plan import keys_of_plan, plan_launch
from tidegate.scheduler.decision.launch.provisional import missing_members
from tidegate.scheduler.decision.leave import leaving, open_for
from tidegate.scheduler.decision.outcome import Decision, Discard, Launch, Pass, Wait
from tidegate.scheduler.decision.repairs import last_launch
from tidegate.scheduler.decision.route import is_full
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.decision.view.upstream import diagnostics_of, edges_of
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.instance import instance_resource
from tidegate.scheduler.model.job import Job, LaunchPlan
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import Launched, keys_held
from tidegate.scheduler.store.error import StoreError
from tidegate.scheduler.tick.inputs import load_existing, load_inputs
from tidegate.scheduler.tick.working_set import WorkingSet

RETRY_AFTER_ERROR = timedelta(minutes=5)
"""A job whose decision raised an error (a bug) is decided again after this time."""

LOOK_AGAIN_AFTER = timedelta(seconds=1)
"""Replaces a next check at the instant of the decision itself, which would decide the same again."""


class Applier:
    """Applies the decisions of one instant.

    Attributes:
        launched, discarded: ids of the jobs.
        took_slots, lost_instances: whether any job has taken slots, and any instance was discarded.
        errors: one line for each postponed job.
    """

    def __init__(self, work: WorkingSet, now: datetime) -> None:
        self._work = work
        self._now = now
        self._plans: dict[str, LaunchPlan] = {}
        self._ended: set[str] = set()
        self.launched: list[str] = []
        self.repaired: dict[str, str] = {}
        self.discarded: list[str] = []
        self.errors: list[str] = []
        self.took_slots = self.lost_instances = False

    @property
    def ended(self) -> int:
        """How many instances have ended."""
        return len(self._ended)

    def judge(self, views: Sequence[JobView], *, planned: bool = True) -> dict[str, Decision | None]:
        """Decide some jobs, and plan the launches; None for a job that an error postpones.

        Args:
            planned: whether launches are planned.
        """
        found = {view.job.id: self._decided(view) for view in views}
        decided = [(view, each) for view in views if isinstance(each := found[view.job.id], Decision)]
        if planned:
            self._work.held.read_for([(v, d) for v, d in decided if _needs_events(d) and not v.job.launch])
        decisions: dict[str, Decision | None] = {}
        for view in views:
            decision = found[view.job.id]
            if isinstance(decision, Decision) and planned:
                decision = self._planned(view, decision)
            if isinstance(decision, Exception):
                self._postpone(view.job, decision)
            decisions[view.job.id] = None if isinstance(decision, Exception) else decision
        return decisions

    def _decided(self, view: JobView) -> Decision | Exception:
        """Return the decision about a job, or the error that it raised."""
        try:
            return decide(view, self._now)
        except Exception as error:  # noqa: BLE001 - one schedule's bug must not stop the others
            return error

    def _planned(self, view: JobView, decision: Decision) -> Decision | Exception:
        """Plan the launch of a job, if it is launched; return its decision, or the error that this raised."""
        try:
            if _launches(decision):
                # A retried job keeps its plan: its next attempt does the same work.
                self._plans[view.job.id] = view.job.launch or self._plan(
                    self._work.held.plan_view(view, decision), decision
                )
        except StoreError:
            # No fault of the plan: the whole transaction has failed.
            raise
        except Exception as error:  # noqa: BLE001 - one schedule's bug must not stop the others
            return error
        return decision

    def _plan(self, view: JobView, decision: Decision) -> LaunchPlan:
        if decision.satisfied_at is not None:
            job = msgspec.structs.replace(view.job, key=date_of_job(view, decision.satisfied_at))
            view = msgspec.structs.replace(view, job=job)
        if view.job.instance is not None and view.job.instance.keyed:
            return self._plan_of_key(view, decision)
        if view.job.instance is None:
            plan = plan_launch(view, decision.satisfied_at)
        else:
            inputs = load_inputs(self._work, view, view.job.instance)
            plan = plan_launch(view, decision.satisfied_at, inputs)
        missing = missing_members(view, decision, self._now)
        repairs = None if view.job.repairs is None else view.job.repairs.jobs[-1]
        plan = with_input(plan, view, self._now)
        return msgspec.structs.replace(plan, provisional=missing, repairs=repairs)

    def _plan_of_key(self, view: JobView, decision: Decision) -> LaunchPlan:
        """Plan the launch of a job of a backfill of a schedule: its manifest is what exists for its key."""
        exists = load_existing(self._work, view)
        collected = msgspec.structs.replace(view, deliveries=exists.deliveries)
        plan = with_input(plan_launch(collected, decision.satisfied_at), collected, self._now)
        return with_reads(plan, exists, view.app.name)

    def decide_again(self, view: JobView) -> bool:
        """Let a job whose launch is decided take again the slots that it gave back, or wait for them.

        Returns:
            Whether it took them.
        """
        job, outcome = view.job, decide_again(view, self._now)
        if isinstance(outcome, Wait):
            check, blocked, needs = outcome.next_check, outcome.blocked_on, outcome.needs
            self._put(msgspec.structs.replace(job, next_check_at=check, blocked_on=blocked, needs=needs))
            return False
        self._take_slots(job, job.program, job.resources)
        data = {"program": job.program, "resources": list(job.resources)}
        entry = self._entry(job, EntryKind.SLOTS_TAKEN, data=data)
        self._put(self._record(job, entry, next_check_at=None, blocked_on=None))
        return True

    def apply(self, view: JobView, decision: Decision) -> None:
        """Write the decision about one job."""
        job, began = view.job, self._began(view)
        if decision.satisfied_at is not None and job.satisfied_at is None:
            data = {"since": decision.satisfied_at.isoformat(), **self._record_upstream(view), **began}
            date = date_of_job(view, decision.satisfied_at)
            data |= {"date": date} if date != job.key else {}
            entry = self._entry(job, EntryKind.SATISFIED, data=data)
            full = is_full(view.schedule, view.events)
            job = self._record(job, entry, closed=job.closed or full)
        match decision.outcome:
            case Wait() as wait:
                self._wait(self._remove_dropped(job, view, wait.dropped), wait, began)
            case Discard(reason=reason, dropped=dropped, since=since):
                job = self._remove_dropped(job, view, dropped)
                self.discard(job, reason)
                if since is not None and _may_lose_events(job):
                    self._open_for_leaving(job, since)
            case Launch(overridden=overridden):
                self._launch(job, msgspec.structs.replace(view, job=job), overridden)
            case Pass(event=event):
                passed = self._entry(job, EntryKind.PASSED)
                self._end(job, passed if event is None else reported_entry(job, event, self._now))
            case _:
                assert_never(decision.outcome)

    def _wait(self, job: Job, wait: Wait, began: dict[str, Any]) -> None:
        if (wait.state, wait.reason) != (job.state, job.reason) or began:
            instants = {"next_check": wait.looked_at, "discarded_at": wait.discarded_at}
            data = {
                **{
                    name: value.isoformat()
                    for name, value in instants.items()
                    if value and not is_never(value, self._now)
                },
                "state": str(wait.state),
                **began,
            }
            job = self._record(job, self._entry(job, EntryKind.WAITING, wait.reason, data))
        check = wait.next_check
        if check is not None and check <= self._now:
            check = self._now + LOOK_AGAIN_AFTER
        self._put(
            msgspec.structs.replace(
                job,
                next_check_at=check,
                blocked_on=wait.blocked_on,
                needs=wait.needs,
                decided_at=self._now,
            )
        )

    def _remove_dropped(self, job: Job, view: JobView, dropped: Sequence[Delivery]) -> Job:
        """Take the events that are too old from the job, as deliveries with a reason (rule 2)."""
        if not dropped:
            return job
        self._work.remove_deliveries(dropped)
        self._work.add_deliveries(
            [msgspec.structs.replace(each, reason=Reason.D_EXPIRED, at=self._now) for each in dropped]
        )
        self._work.add_journal(
            Entry(
                at=self._now,
                kind=EntryKind.EVENT_DISCARDED,
                schedule=job.schedule,
                job=job.id,
                event=each.event.id,
                reason=Reason.D_EXPIRED,
                data={"leaf": each.leaf},
            )
            for each in dropped
        )
        if view.leaving is not None:
            return msgspec.structs.replace(job, first_event_at=view.leaving.first)
        kept = [each.event.arrived for each in view.deliveries if each not in dropped]
        return msgspec.structs.replace(job, first_event_at=min(kept, default=None))

    def _launch(self, job: Job, view: JobView, overridden: Sequence[Reason]) -> None:
        program, plan = f"{job.app}/{view.schedule.program}", self._plans[job.id]
        keys = keys_of_plan(view.schedule, plan) if job.instance is None else ()
        resources = (*view.resources, *keys_held(job.schedule, keys))
        # The slots and the state change in one transaction: no other scheduler can take the last slot.
        self._take_slots(job, program, resources)
        entry = self._entry(
            job,
            EntryKind.LAUNCH,
            data={
                "program": program,
                "resources": list(resources),
                "partitions": list(plan.partitions),
                "manifest": plan.manifest,
                "args": plan.args,
                **({"business_dates": list(plan.dates)} if plan.dates else {}),
                **({"provisional": msgspec.to_builtins(plan.provisional)} if plan.provisional else {}),
                **({} if plan.repairs is None else {"repairs": plan.repairs}),
                "attempt": job.attempt,
                "overridden": [str(reason) for reason in overridden],
            },
        )
        # The entry holds the part of the plan that people ask about; the job keeps the whole plan.
        self._put(self._record(job, entry, next_check_at=None, blocked_on=None, launch=plan))
        # A further attempt is not a later launch: a repair may have followed the first one.
        if job.launch is None and job.instance is None and view.schedule.for_each is not None:
            self._work.last.put(last_launch(job, view.schedule, plan, self._now), plan)
            if plan.repairs is not None:
                self.repaired[plan.repairs] = job.id
        self.launched.append(job.id)

    def _take_slots(self, job: Job, program: str, resources: Sequence[str]) -> None:
        self._work.take_slots(job.id, resources)
        self._work.add_launch(Launched(program=program, holder=job.launch_holder, at=self._now))
        self.took_slots = True

    def discard(self, job: Job, reason: Reason) -> None:
        """Discard a job, for a reason."""
        self._end(job, discard_entry(job, reason, self._now))
        self.discarded.append(job.id)
        self.lost_instances = self.lost_instances or job.instance is not None

    def _open_for_leaving(self, job: Job, since: datetime) -> None:
        """Open a job for the events of a discarded one that arrived at its instant or later."""
        gone = leaving(self._work.held.whole(job.id), since)
        if not gone:
            return
        found = open_for(job, gone, self._work.schedule(job.schedule), self._now)
        self._work.remove_deliveries(gone)
        self._put(found.job)
        self._work.add_deliveries(found.deliveries)
        self._work.add_journal(found.entries)

    def _end(self, job: Job, entry: Entry) -> None:
        self._work.add_journal([entry])
        end = end_job(job, entry)
        self._put(end.job)
        self._work.add_events(end.events)
        if job.instance is not None:
            self._ended.add(instance_resource(job.id))

    def wake_consumers(self) -> None:
        """Let the consumers of the instances that ended be decided at this instant too.

        It comes last: a consumer may have been decided with rows from before the end of its upstream.
        """
        if self._ended:
            self._work.wake(self._ended, self._now)

    def _record_upstream(self, view: JobView) -> dict[str, Any]:
        """Record the upstream instances of an instance that leaves Not Run; nothing for other jobs."""
        if view.job.instance is None:
            return {}
        edges = edges_of(view.upstream)
        self._work.put_edges(view.job.id, [edge.job for edge in edges])
        missing = diagnostics_of(view.upstream)
        return {"upstream": msgspec.to_builtins(edges), "diagnostics": msgspec.to_builtins(missing)}

    def _began(self, view: JobView) -> dict[str, Any]:
        """Record that the lot of an instance of a backfill has begun, once; nothing for other jobs."""
        instance = view.job.instance
        began = None if instance is None or instance.began is not None else began_at(view, self._now)
        return {} if began is None else {"began": began.isoformat()}

    def _postpone(self, job: Job, error: Exception) -> None:
        """Decide a job again later, and record the error that its decision raised."""
        line = f"{job.schedule}: {type(error).__name__}: {error}"
        entry = self._entry(job, EntryKind.WAITING, job.reason, {"error": line})
        self._put(self._record(job, entry, next_check_at=self._now + RETRY_AFTER_ERROR))
        self.errors.append(line)

    def _put(self, job: Job) -> None:
        self._work.put_jobs([job])

    def _entry(
        self, job: Job, kind: EntryKind, reason: Reason | None = None, data: dict[str, Any] | None = None
    ) -> Entry:
        return Entry(
            at=self._now, kind=kind, schedule=job.schedule, job=job.id, reason=reason, data=data or {}
        )

    def _record(self, job: Job, entry: Entry, **bookkeeping: Any) -> Job:
        """Write an entry; return the job after it."""
        self._work.add_journal([entry])
        return record(job, entry, **bookkeeping)


def _launches(decision: Decision) -> bool:
    return isinstance(decision.outcome, Launch)


def _needs_events(decision: Decision) -> bool:
    """Return whether its writer reads the events of the job."""
    outcome = decision.outcome
    return isinstance(outcome, Launch) or (isinstance(outcome, Discard) and outcome.since is not None)


def _may_lose_events(job: Job) -> bool:
    """Return whether events may leave a discarded job: a further attempt and an instance keep theirs."""
    return job.launch is None and job.instance is None
