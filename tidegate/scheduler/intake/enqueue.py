"""Enqueue: what a Dagster schedule of a plain cron does when it ticks.

It makes sure that the fire of that instant is in the store, under the same id that the
dispatcher would give it, and says what became of it. It launches nothing: launching has one
path, the outbox.
"""

from datetime import datetime

from tidegate.domain.time import fire_times
from tidegate.scheduler.decision.fires import cron_leaves, due_fires, fire_event
from tidegate.scheduler.store.protocol import Transaction
from tidegate.scheduler.tick.tick import advance_to


def enqueue_fire(transaction: Transaction, ref: str, scheduled_for: datetime, now: datetime) -> str:
    """Put the fire of one instant into the store, once.

    Args:
        ref: "app/name" of a schedule whose trigger is a plain cron.
        scheduled_for: the instant for which Dagster evaluates its schedule. Aware.

    Returns:
        A line for the user: the job that the fire joined, or why there is none.
    """
    state = next(iter(transaction.schedules(refs=(ref,))), None)
    if state is None:
        return f"{ref} is not deployed"
    if not state.active:
        return f"{ref} is suspended; resume it to let it fire"
    if state.active_since is not None and scheduled_for < state.active_since:
        return f"{ref} became active after {scheduled_for.isoformat()}"
    for leaf, cron in cron_leaves(state):
        if fire_times.previous_fire(cron, scheduled_for) != scheduled_for:
            continue
        # A late fire is judged by the schedule's catch-up, whoever notices it first.
        due = (event for event in due_fires(state, now) if event.time == scheduled_for)
        event = next(due, fire_event(ref, leaf.path, scheduled_for))
        fresh = transaction.add_events([event])
        advance_to(transaction, now)
        delivery = next(iter(transaction.deliveries_of_events([event.id])), None)
        if delivery is None:
            return "noted; a later tick delivers it"
        if delivery.job is None:
            return f"discarded with {delivery.reason}"
        return f"{'queued as' if fresh else 'already queued as'} job {delivery.job}"
    return f"{scheduled_for.isoformat()} is no fire of {ref}"
