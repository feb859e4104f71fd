"""A counter in the schedule store that requests a search for orphaned staging.

A search lists the staging of every dataset, and needs a Spark session for Iceberg tables, so it
runs only on request and not each minute. The request survives the process that wrote it. It is a
counter, so that a request made during a search is not cleared with the earlier ones.
"""

from tidegate.scheduler.store.protocol import Store

CLEANING = "commits:cleaning"
"""Name of the cursor that holds the counter."""


def requests(store: Store) -> int:
    """Return the number of requests since the last search; 0 when no search is needed."""
    with store.reading() as reader:
        return int(reader.cursor(CLEANING) or 0)


def request(store: Store) -> None:
    """Request a search for orphaned staging."""
    with store.transaction() as transaction:
        transaction.set_cursor(CLEANING, int(transaction.cursor(CLEANING) or 0) + 1)


def finish(store: Store, handled: int) -> None:
    """Clear the requests after a search that began when `requests` returned `handled`."""
    with store.transaction() as transaction:
        if transaction.cursor(CLEANING) == handled:
            transaction.set_cursor(CLEANING, 0)
