"""Enqueue: the tick of a Dagster schedule of a plain cron.

It ensures that the fire of that instant is in the store, with the same id that the dispatcher
would give it, and returns what became of it. It launches nothing: only the outbox launches.
"""

from datetime import datetime

from tidegate.domain.time import fire_times
from tidegate.scheduler.decision.fires import cron_leaves, due_fires, fire_event
from tidegate.scheduler.store.protocol import Transaction
from tidegate.scheduler.tick.tick import advance_to


def enqueue_fire(transaction: Transaction, ref: str, scheduled_for: datetime, now: datetime) -> str:
    """Store the fire of one instant, once.

    Args:
        ref: "app/name" of a schedule whose trigger is a plain cron.
        scheduled_for: the instant for which Dagster evaluates its schedule. Aware.

    Returns:
        A line for the user: the job that the fire joined, or why it joined none.
    """
    state = next(iter(transaction.schedules(refs=(ref,))), None)
    if state is None:
        return f"{ref} is not deployed"
    if not state.active:
        return f"{ref} is suspended; `tidegate schedules resume {ref}` lets it fire"
    if state.active_since is not None and scheduled_for < state.active_since:
        return f"{ref} became active after {scheduled_for.isoformat()}"
    for leaf, cron in cron_leaves(state):
        if fire_times.previous_fire(cron, scheduled_for) != scheduled_for:
            continue
        # The schedule's catch-up decides about a late fire, as it does in a tick.
        due = (event for event in due_fires(state, now) if event.time == scheduled_for)
        event = next(due, fire_event(ref, leaf.path, scheduled_for))
        fresh = transaction.add_events([event])
        advance_to(transaction, now)
        delivery = next(iter(transaction.deliveries_of_events([event.id])), None)
        if delivery is None:
            return "stored; a later tick delivers it"
        if delivery.job is None:
            return f"discarded with {delivery.reason}"
        return f"{'queued as' if fresh else 'already queued as'} job {delivery.job}"
    return f"{scheduled_for.isoformat()} is not a fire of {ref}"
