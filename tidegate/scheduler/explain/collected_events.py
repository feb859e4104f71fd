"""Collected events: what waiting jobs have collected, as explanations read it.

    kept counts that say all that a verdict tells    the counts, and the keys that are counted
    anything else                                    all events of the job

So `why` of a job with a hundred thousand events reads about none of them. It never makes counts: only a tick
does (`scheduler.tick.held_events`), and it changes them with the events, in one transaction.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache, partial

import msgspec

from tidegate.domain.model import Leaf, leaves
from tidegate.scheduler.decision.triggers.collected import Collected, collected
from tidegate.scheduler.decision.triggers.counting.basis import basis_of, slides
from tidegate.scheduler.decision.triggers.tree import LEAVES
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.records.tally import KeptTally, LeafTally, Tally
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.load import AllEvents


class CollectedEvents:
    """The events of jobs, for views that are explained.

    Args:
        counts: of those that keep some, by id.
    """

    def __init__(self, reader: EngineReader, counts: Mapping[str, KeptTally]) -> None:
        self._reader = reader
        self._all = AllEvents(reader)
        self._counts = counts

    def prepare(self, jobs: Sequence[Job]) -> None:
        """Read the events of the jobs that keep no counts."""
        self._all.prepare([job for job in jobs if job.id not in self._counts])

    def view(self, view: JobView, now: datetime) -> JobView:
        """Return the view of a job with its counts, or with all its events where these do not say all."""
        kept = self._counts.get(view.job.id)
        if kept is None:
            return self._all.view(view, now)
        keys = cache(partial(self._reader.counted_keys, view.job.id))
        counted = msgspec.structs.replace(view, tally=kept.tally, counted_keys=keys)
        if kept.basis == basis_of(view) and tells_all(counted, kept.tally, now):
            return counted
        return self.whole_view(counted)

    def whole_view(self, view: JobView) -> JobView:
        """Return the view of a job with all its events."""
        if view.tally is None:
            return view
        self._all.prepare([view.job])
        bare = msgspec.structs.replace(view, tally=None, counted_keys=None)
        return self._all.view(bare, view.job.opened_at)


def tells_all(view: JobView, tally: Tally, now: datetime) -> bool:
    """Return whether the counts of a job say all that verdicts on it tell, at an instant.

    Counts go on only until they are enough, and a fire that gives the job its date is enough at once. A job
    that is launched again may have events that its trigger does not hear.

    Args:
        view: with the counts and their keys.
    """
    job, trigger = view.job, view.schedule.trigger
    ahead = tally.through is not None and tally.through > now
    if ahead or slides(trigger) or job.repairs is not None or job.launch is not None:
        return False
    if job.satisfied_at is not None or any(count.since is not None for count in tally.leaves.values()):
        return False
    has = collected(view)
    return all(
        _tells(leaf, tally.leaves[leaf.path], has) for leaf in leaves(trigger) if leaf.path in tally.leaves
    )


def _tells(leaf: Leaf, count: LeafTally, has: Collected) -> bool:
    kind = LEAVES[type(leaf.trigger)]
    return kind.counted is not None and kind.counted(leaf.trigger, count, leaf.path, has) is not None
