"""Basis: by what a job's events are counted, so that counts of another trigger are not used."""

import hashlib
from collections.abc import Iterator

import msgspec

from tidegate.domain.model import App, LeafTrigger, PartitionScheme, Trigger, leaves
from tidegate.scheduler.decision.triggers.collect_within import keeps_evidence
from tidegate.scheduler.decision.triggers.leaf import Counting
from tidegate.scheduler.decision.triggers.tree import LEAVES, limits_of
from tidegate.scheduler.decision.triggers.wait_at_most import waits
from tidegate.scheduler.decision.view.job_view import JobView

DIGEST_DIGITS = 16

FORM = 2
"""Of the tally; another form of it is another basis, and counts of the former one are made again."""

EVENTS_ONLY = "events"
"""The basis of a satisfied job whose trigger drops events. None leaves it now; only their number counts."""


def basis_of(view: JobView) -> str | None:
    """Return what identifies how a job's events are counted; None for a trigger that needs all of them."""
    trigger = view.schedule.trigger
    if not _is_countable(trigger, view.app):
        return None
    if counts_events_only(view):
        return EVENTS_ONLY
    bare = [name for name, dataset in sorted(view.app.datasets.items()) if dataset.partitions is None]
    named = {leaf.trigger.dataset_collected for leaf in leaves(trigger)}
    program = f"{view.job.schedule} {view.schedule.program}"
    of_leaves = [[name for name in bare if name in named], *_cut(view)]
    text = msgspec.json.encode([FORM, program, trigger, *of_leaves])
    return hashlib.sha256(text).hexdigest()[:DIGEST_DIGITS]


def slides(trigger: Trigger) -> bool:
    """Return whether events of a trigger may stop counting: a `collect_within` drops what is too old."""
    return any(limits_of(trigger).values())


def counts_events_only(view: JobView) -> bool:
    """Return whether of a job only the number of its events is counted."""
    return view.job.satisfied_at is not None and slides(view.schedule.trigger)


def counts_periods(counting: Counting, trigger: LeafTrigger) -> bool:
    """Return whether a leaf counts the keys of each period apart."""
    return counting.wanted(trigger) is None


def counting_of(trigger: LeafTrigger) -> Counting:
    """Return how a leaf of a countable trigger counts."""
    counting = LEAVES[type(trigger)].counting
    assert counting is not None, "the trigger is countable"
    return counting


def _is_countable(trigger: Trigger, app: App) -> bool:
    if slides(trigger) and waits(trigger) and keeps_evidence(trigger):
        # How long evidence stays depends on what may be waited for, wherever that came.
        return False
    return all(_has_counts(leaf.trigger, app) for leaf in leaves(trigger))


def _has_counts(trigger: LeafTrigger, app: App) -> bool:
    counting = LEAVES[type(trigger)].counting if type(trigger) in LEAVES else None
    if counting is None:
        return False
    return not counts_periods(counting, trigger) or _scheme(trigger, app) is not None


def _cut(view: JobView) -> Iterator[PartitionScheme | None]:
    """Yield the partitions of the datasets of which a trigger counts each period apart."""
    for leaf in leaves(view.schedule.trigger):
        counting = LEAVES[type(leaf.trigger)].counting
        if counting is not None and counts_periods(counting, leaf.trigger):
            yield _scheme(leaf.trigger, view.app)


def _scheme(trigger: LeafTrigger, app: App) -> PartitionScheme | None:
    dataset = app.datasets.get(trigger.dataset_collected or "")
    return None if dataset is None else dataset.partitions
