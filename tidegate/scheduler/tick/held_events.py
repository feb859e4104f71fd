"""Held events: what the jobs of a working set have collected, as decisions read it.

    few events                      the deliveries, read once and cached
    more than COUNTED_FROM          kept counts, advanced by what arrives; a launch reads the deliveries
    a trigger that is satisfied     nothing: only a launch needs the deliveries

So one more event costs a job the same, however many it holds. Counts are a cache
(`scheduler.model.records.tally`). They are made from all events, once, where there are none, where the
trigger was changed, and where an event arrived before one that is counted. Where events may stop counting,
those that do are read (`Kept`).

Kept counts: what the store keeps of the counted events of one job, as decisions ask for it (`Kept`). Keys
are looked up together with those of the events that are still to come in the working set, and cached.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime

import msgspec

from tidegate.compiler.template import references_in
from tidegate.scheduler.decision.outcome import Decision, Launch
from tidegate.scheduler.decision.repairs import seen_by
from tidegate.scheduler.decision.triggers.collected import heard_keys
from tidegate.scheduler.decision.triggers.counting.arrivals import Nothing
from tidegate.scheduler.decision.triggers.counting.basis import basis_of, counts_leaves_alone, slides
from tidegate.scheduler.decision.triggers.counting.counter import Counter, counted_at
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.event import Delivery, delivery_order
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.records.tally import KeptTally, TalliedKeys, Tally
from tidegate.scheduler.store.engine_rows import TallyRows
from tidegate.scheduler.store.protocol import EngineTransaction

Keys = dict[tuple[str, str], int]


class KeptCounts:
    """What a trigger asks of the events that it has counted, from the rows of the store.

    Args:
        coming: the partition keys of the events of the working set.

    Attributes:
        knows_all_keys: whether no key is in the store only.
    """

    def __init__(self, rows: TallyRows, job: Job, coming: Collection[str]) -> None:
        self._rows = rows
        self._job = job
        self._coming = coming
        self._keys: Keys = {}
        self._asked: set[str] = set()
        self.knows_all_keys = False

    def note(self, keys: TalliedKeys) -> None:
        """Note what has changed of the keys, before it is written."""
        self._keys.update(keys)

    def keys(self, keys: Collection[str]) -> TalliedKeys:
        missing = set(keys) - self._asked
        if missing and not self.knows_all_keys:
            # Events without a `for_each` are all for this job, so their keys are read together.
            missing |= set() if self._job.key else set(self._coming) - self._asked
            found = self._rows.tallied_keys(self._job.id, missing)
            self._keys = {**found, **self._keys}
            self._asked |= missing
        return self._keys

    def events(self, leaf: str, after: datetime, limit: int) -> Sequence[Delivery]:
        job = self._job
        return [
            Delivery(event=event, schedule=job.schedule, leaf=leaf, job=job.id, at=event.arrived)
            for event in self._rows.counted_events(job.id, leaf, after, limit)
        ]

    def newest(self, leaf: str, until: datetime) -> datetime | None:
        return self._rows.newest_counted(self._job.id, leaf, until)


COUNTED_FROM = 100
"""A job with more events than this keeps its counts. Fewer are read faster than their counts are kept."""


class HeldEvents:
    """The events of jobs, cached.

    Args:
        flush: writes all changes of the working set to the transaction.
    """

    def __init__(self, transaction: EngineTransaction, flush: Callable[[], None]) -> None:
        self._transaction = transaction
        self._flush = flush
        self._whole: dict[str, list[Delivery]] = {}
        self._looked: set[str] = set()
        self._counts: dict[str, KeptTally] = {}
        self._uncounted: dict[str, list[Delivery]] = {}
        self._kept: dict[str, KeptCounts] = {}
        self._leaving: dict[str, tuple[Tally, TalliedKeys]] = {}
        self._recounted: set[str] = set()
        self._stored: set[str] = set()
        self._changed: dict[str, Keys] = {}
        self._unwritten: set[str] = set()
        self._coming: set[str] = set()

    def prefetch(self, jobs: Iterable[Job], partitions: Iterable[str]) -> None:
        """Read in one query each what the instants of the set will ask for one by one.

        Args:
            partitions: of the events that are to be routed.
        """
        self._coming.update(partitions)
        self.prepare(jobs)

    def prepare(self, jobs: Iterable[Job]) -> None:
        """Read the counts of some jobs, and the events of those that need them and have no counts."""
        unsatisfied = [job.id for job in jobs if job.satisfied_at is None or job.instance is not None]
        self._look(unsatisfied)
        self.read([id for id in unsatisfied if id not in self._counts])

    def mark_opened(self, job: str) -> None:
        """Note a job that is new to the set; the store has no events of it."""
        self._whole.setdefault(job, [])
        self._looked.add(job)

    def read(self, jobs: Collection[str]) -> None:
        """Read all events of some jobs."""
        missing = [id for id in jobs if id not in self._whole]
        if not missing:
            return
        if not self._unwritten.isdisjoint(missing):
            self._flush()
        found = self._transaction.deliveries(missing)
        self._whole.update((id, list(each)) for id, each in found.items())

    def whole(self, job: str) -> tuple[Delivery, ...]:
        """Return all events of a job, in order of arrival."""
        self.read([job])
        return tuple(self._whole[job])

    def view(self, view: JobView, now: datetime) -> JobView:
        """Return the view of a job with what a decision at `now` has to know of its events."""
        job, max_batch = view.job, view.schedule.max_batch
        if job.instance is None and job.satisfied_at is not None and (max_batch is None or job.closed):
            return msgspec.structs.replace(view, tally=Tally())
        tally = self._tally(view, now)
        if tally is None:
            return msgspec.structs.replace(view, deliveries=self._seen(view))
        found, keys = counted_at(view, tally, self._kept_of(job), now)
        if found.leaving is not None:
            self._leaving[job.id] = (found.leaving.tally, keys)
        return found

    def view_with(self, view: JobView, added: Sequence[Delivery], now: datetime) -> JobView:
        """Return the view of a job as if further events had joined it."""
        tally = self._tally(view, now)
        if tally is not None and _continues(tally, added, now):
            counter = Counter(view, tally, self._kept_of(view.job))
            counter.advance(added, until=now)
            return msgspec.structs.replace(view, tally=counter.tally())
        return msgspec.structs.replace(view, deliveries=(*self._seen(view), *added))

    def whole_view(self, view: JobView) -> JobView:
        """Return the view of a job with all its events."""
        if view.tally is None:
            return view
        return msgspec.structs.replace(view, deliveries=self._seen(view), tally=None, leaving=None)

    def plans_by_reports(self, view: JobView, decision: Decision) -> bool:
        """Return whether a launch needs at most the counts of a job and reports, and no event is read.

        It needs events where references are filled from them, or a part of the trigger is judged once more.
        """
        id, schedule = view.job.id, view.schedule
        if not isinstance(decision.outcome, Launch) or id not in self._counts or id in self._whole:
            return False
        # Of a job that was satisfied before, whose counts are not read, the trigger is not found to hold.
        by_counts = decision.trigger.met and counts_leaves_alone(schedule.trigger)
        existing = view.app.programs[schedule.program].existing
        return by_counts and existing is None and not references_in(schedule.args)

    def read_for(self, decided: Iterable[tuple[JobView, Decision]]) -> None:
        """Read all events of jobs whose decisions are applied with them."""
        self.read([view.job.id for view, decision in decided if not self.plans_by_reports(view, decision)])

    def plan_view(self, view: JobView, decision: Decision) -> JobView:
        """Return the view of a job with what its launch plan needs: its events, as reports if they are."""
        if self.plans_by_reports(view, decision):
            if view.job.id in self._unwritten:
                self._flush()
            reports = self._transaction.reports(view.job.id)
            if reports is not None:
                return msgspec.structs.replace(view, reports=reports)
        return self.whole_view(view)

    def _seen(self, view: JobView) -> tuple[Delivery, ...]:
        """Return all events of a job; those of a repair with the events of the jobs that it repairs."""
        former = () if view.job.repairs is None else view.job.repairs.jobs
        self.read([view.job.id, *former])
        return seen_by(view.job, view.schedule, self._whole[view.job.id], self._whole)

    def add(self, deliveries: Iterable[Delivery]) -> None:
        """Add events to their jobs; put the jobs first, and write the deliveries with the set."""
        kept = [(each.job, each) for each in deliveries if each.reason is None and each.job is not None]
        self._look({job for job, _ in kept})
        for job, delivery in kept:
            if job in self._whole:
                _insert(self._whole[job], delivery)
            if job in self._counts:
                self._uncounted.setdefault(job, []).append(delivery)
            self._unwritten.add(job)

    def remove(self, deliveries: Sequence[Delivery]) -> set[str]:
        """Remove events from their jobs.

        Returns:
            The jobs (ids) whose counts go on without them; the store removes those of the others.
        """
        counted: set[str] = set()
        for job in {each.job or "" for each in deliveries}:
            left = self._leaving.pop(job, None)
            if job in self._whole:
                gone = {(each.event.id, each.leaf) for each in deliveries if each.job == job}
                self._whole[job] = [d for d in self._whole[job] if (d.event.id, d.leaf) not in gone]
            if left is not None and job in self._counts:
                tally, keys = left
                self._count(msgspec.structs.replace(self._counts[job], tally=tally), keys)
                counted.add(job)
            else:
                self._forget(job)
                self._stored.discard(job)
        return counted

    def write(self, jobs: Mapping[str, Job]) -> None:
        """Write the changed counts, after the jobs and their deliveries.

        Args:
            jobs: as they are now, by id.
        """
        stale = {id for id, found in self._uncounted.items() if found}
        for id in stale:
            self._forget(id)
        # With a job that does not wait any more, the store has removed its counts.
        changed = {id: keys for id, keys in self._changed.items() if id in jobs and jobs[id].waiting}
        self._transaction.delete_tallies(sorted(self._stored & (stale | (self._recounted & changed.keys()))))
        self._transaction.put_tallies(
            [self._counts[id] for id in changed], {id: keys for id, keys in changed.items() if keys}
        )
        self._stored = (self._stored - stale) | changed.keys()
        self._changed, self._unwritten, self._recounted = {}, set(), set()

    def _look(self, jobs: Collection[str]) -> None:
        """Read the counts of jobs."""
        missing = [id for id in jobs if id not in self._looked]
        if missing:
            found = self._transaction.tallies(missing)
            self._counts.update(found)
            self._stored.update(found)
            self._looked.update(missing)

    def _forget(self, job: str) -> None:
        """Forget the counts of a job."""
        for known in (self._counts, self._uncounted, self._changed, self._kept, self._leaving):
            known.pop(job, None)
        self._recounted.discard(job)

    def _tally(self, view: JobView, now: datetime) -> Tally | None:
        """Return the counts of a job, with all that has joined it; None for a job that keeps none."""
        id = view.job.id
        self._look([id])
        if view.job.repairs is not None:
            # Its events are also those of other jobs, which are not counted for it.
            return None
        few = id in self._whole and id not in self._counts and len(self._whole[id]) <= COUNTED_FROM
        basis = None if few else basis_of(view)
        if basis is None:
            return None
        kept, added = self._counts.get(id), self._uncounted.get(id, [])
        if kept is not None and kept.basis == basis and _continues(kept.tally, added, now):
            if added:
                self._advance(view, kept, added)
            return self._counts[id].tally
        whole = self.whole(id)
        if len(whole) <= COUNTED_FROM or whole[-1].event.arrived > now:
            return None
        if slides(view.schedule.trigger) and not _are_heard(view, whole):
            # They never leave the job, unlike what is counted.
            return None
        self._recount(view, basis, whole)
        return self._counts[id].tally

    def _advance(self, view: JobView, kept: KeptTally, added: Sequence[Delivery]) -> None:
        counter = Counter(view, kept.tally, self._kept_of(view.job))
        counter.advance(added)
        if slides(view.schedule.trigger):
            self._transaction.put_tallies((), counted=added)
        self._count(msgspec.structs.replace(kept, tally=counter.tally()), counter.changed)

    def _recount(self, view: JobView, basis: str, whole: Sequence[Delivery]) -> None:
        id = view.job.id
        counter = Counter(view, Tally(), Nothing())
        counter.advance(whole)
        self._forget(id)
        kept = KeptTally(job=id, basis=basis, tally=counter.tally())
        self._kept_of(view.job).knows_all_keys = True
        if slides(view.schedule.trigger):
            # Written at once: what is counted next may read it.
            self._transaction.delete_tallies([id])
            self._transaction.put_tallies([kept], {id: counter.changed}, whole)
            self._stored.add(id)
        else:
            self._recounted.add(id)
        self._count(kept, counter.changed)

    def _count(self, kept: KeptTally, keys: TalliedKeys) -> None:
        """Note the counts of a job after all its events, and what has changed of its keys."""
        job = kept.job
        self._counts[job] = kept
        self._uncounted.pop(job, None)
        self._changed.setdefault(job, {}).update(keys)
        self._kept[job].note(keys)

    def _kept_of(self, job: Job) -> KeptCounts:
        if job.id not in self._kept:
            self._kept[job.id] = KeptCounts(self._transaction, job, self._coming)
        return self._kept[job.id]


def _continues(tally: Tally, added: Iterable[Delivery], now: datetime) -> bool:
    """Return whether all further events arrived later than what is counted, and all by `now`."""
    arrivals = [each.event.arrived for each in added]
    through = tally.through
    if through is not None and (through > now or (arrivals and min(arrivals) <= through)):
        return False
    return not arrivals or max(arrivals) <= now


def _are_heard(view: JobView, deliveries: Iterable[Delivery]) -> bool:
    """Return whether a leaf of the trigger listens to each of the events."""
    heard = heard_keys(view)
    return all(heard.get(each.leaf) == each.event.key for each in deliveries)


def _insert(deliveries: list[Delivery], delivery: Delivery) -> None:
    """Add a delivery in order of arrival."""
    last = deliveries[-1] if deliveries else None
    deliveries.append(delivery)
    if last is not None and delivery_order(last) > delivery_order(delivery):
        deliveries.sort(key=delivery_order)
