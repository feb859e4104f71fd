"""The basis of a job's counts: what they depend on, in one text. Counts of another basis are not used.

    None        the trigger needs the events themselves; nothing is kept
    "events"    the trigger holds and may drop events: only how many there are is kept
    a digest    of the form of the tally, the program, the trigger, and the partitions of what it counts

A deployment that changes one of these changes the basis, so the next look at the job counts its events again
(ADR 36). Pure.
"""

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
"""Of the tally. Raise it with every change of what a tally holds: all counts are then made again."""

EVENTS_ONLY = "events"
"""The basis of a satisfied job whose trigger drops events: it never asks again which of them count."""


def basis_of(view: JobView) -> str | None:
    """Return what identifies how a job's events are counted; None for a trigger that needs all of them."""
    trigger, datasets = view.schedule.trigger, view.app.datasets
    if not _is_countable(trigger, view.app):
        return None
    if counts_events_only(view):
        return EVENTS_ONLY
    # Only what the trigger names: where an app gets another dataset, nothing is counted again.
    collected = {leaf.trigger.dataset_collected for leaf in leaves(trigger)}
    bare = [name for name in sorted(datasets) if name in collected and datasets[name].partitions is None]
    program = f"{view.job.schedule} {view.schedule.program}"
    text = msgspec.json.encode([FORM, program, trigger, bare, *_schemes(view)])
    return hashlib.sha256(text).hexdigest()[:DIGEST_DIGITS]


def slides(trigger: Trigger) -> bool:
    """Return whether events of a trigger may stop counting: a `collect_within` drops what is too old."""
    return any(limits_of(trigger).values())


def counts_leaves_alone(trigger: Trigger) -> bool:
    """Return whether each leaf of a trigger counts all its events, and so says by itself whether it holds."""
    return not (slides(trigger) or waits(trigger) or keeps_evidence(trigger))


def counts_events_only(view: JobView) -> bool:
    """Return whether of a job only the number of its events is counted."""
    return view.job.satisfied_at is not None and slides(view.schedule.trigger)


def counting_of(trigger: LeafTrigger) -> Counting:
    """Return how a leaf of a countable trigger counts."""
    counting = _counting(trigger)
    assert counting is not None, "the trigger is countable"
    return counting


def counts_periods(counting: Counting, trigger: LeafTrigger) -> bool:
    """Return whether a leaf counts the keys of each period apart."""
    return counting.wanted(trigger) is None


def _is_countable(trigger: Trigger, app: App) -> bool:
    if slides(trigger) and waits(trigger) and keeps_evidence(trigger):
        # How long evidence stays depends on what may be waited for, wherever that came.
        return False
    return all(_has_counts(leaf.trigger, app) for leaf in leaves(trigger))


def _has_counts(trigger: LeafTrigger, app: App) -> bool:
    counting = _counting(trigger)
    if counting is None:
        return False
    # The periods of keys come from the partitions; without them a key has no period to count it under.
    return not counts_periods(counting, trigger) or _scheme(trigger, app) is not None


def _schemes(view: JobView) -> Iterator[PartitionScheme | None]:
    """Yield the partitions by which a leaf cuts its keys into periods; another cycle makes other periods."""
    for leaf in leaves(view.schedule.trigger):
        if counts_periods(counting_of(leaf.trigger), leaf.trigger):
            yield _scheme(leaf.trigger, view.app)


def _counting(trigger: LeafTrigger) -> Counting | None:
    kind = LEAVES.get(type(trigger))
    return None if kind is None else kind.counting


def _scheme(trigger: LeafTrigger, app: App) -> PartitionScheme | None:
    dataset = app.datasets.get(trigger.dataset_collected or "")
    return None if dataset is None else dataset.partitions
