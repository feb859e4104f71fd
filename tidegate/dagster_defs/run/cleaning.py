"""A counter in the schedule store that requests a search for orphaned staging.

A search lists the staging of every dataset, and needs a Spark session for Iceberg tables, so it
runs only on request and not each minute. The request survives the process that wrote it. It is a
counter, so that a request made during a search is not cleared with the earlier ones.
"""

from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.scheduler.store.protocol import Store


def of_project(name: str, project: str) -> str:
    """Return the name of the cursor of a project."""
    return name if project == NO_PROJECT else f"{name}:{project}"


CLEANING = "commits:cleaning"
"""Beginning of the name of the cursor that holds the counter of a project, whose tables are searched."""


def requests(store: Store, project: str = NO_PROJECT) -> int:
    """Return the number of requests since the last search; 0 when no search is needed."""
    with store.reading() as reader:
        return int(reader.cursor(of_project(CLEANING, project)) or 0)


def request(store: Store, project: str = NO_PROJECT) -> None:
    """Request a search for orphaned staging."""
    with store.transaction() as transaction:
        made = int(transaction.cursor(of_project(CLEANING, project)) or 0)
        transaction.set_cursor(of_project(CLEANING, project), made + 1)


def finish(store: Store, handled: int, project: str = NO_PROJECT) -> None:
    """Clear the requests after a search that began when `requests` returned `handled`."""
    with store.transaction() as transaction:
        if transaction.cursor(of_project(CLEANING, project)) == handled:
            transaction.set_cursor(of_project(CLEANING, project), 0)
