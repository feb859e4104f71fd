"""A note in the schedule store: there may be staging that belongs to nobody, and it is yet to be looked for.

To look costs a listing of every dataset's staging, and a Spark session where one is an Iceberg
table, so it is done when there is a reason and not each minute. The note outlives whoever has
written it. It is a number, so that what is noted while somebody looks is not taken back with it.
"""

from tidegate.scheduler.store.protocol import Store

CLEANING = "commits:cleaning"
"""Name of the cursor that holds it."""


def noted(store: Store) -> int:
    """How often it was asked for since it was last done; 0 when there is nothing to look for."""
    with store.reading() as reader:
        return int(reader.cursor(CLEANING) or 0)


def ask_for_it(store: Store) -> None:
    """Have orphaned staging looked for."""
    with store.transaction() as transaction:
        transaction.set_cursor(CLEANING, int(transaction.cursor(CLEANING) or 0) + 1)


def done(store: Store, seen: int) -> None:
    """It was looked for after `noted` had said `seen`."""
    with store.transaction() as transaction:
        if transaction.cursor(CLEANING) == seen:
            transaction.set_cursor(CLEANING, 0)
