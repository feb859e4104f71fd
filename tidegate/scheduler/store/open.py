"""Opens the schedule store that a URL names.

`sqlite:///path` keeps it in a file, and `postgresql://…` in a PostgreSQL database. The SQL engine
is imported when a store is opened: commands that open none start faster.
"""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from tidegate.domain.commit_store import CommitStepStore
from tidegate.scheduler.store.upkeep import UpkeepStore

if TYPE_CHECKING:
    from tidegate.scheduler.store.commits.noted import Note


def shown_url(url: str) -> str:
    """Return the URL of a store as a person may see it: without a password."""
    from sqlalchemy import make_url

    from tidegate.scheduler.store.sql.connection.read_only import shown

    return shown(make_url(url))


def open_store(
    url: str, *, create: bool = True, migrate: bool = True, may_be_unreleased: bool = False
) -> UpkeepStore:
    """The store at a URL, its schema brought up to date.

    Args:
        url: "sqlite:///relative.db", "sqlite:////absolute.db", or "postgresql://…".
        create: make a store that does not exist yet; False refuses instead.
        migrate: bring the schema of an older store up to date; False refuses instead.
        may_be_unreleased: open a store of an unreleased version as it is. Only its journal can be read.

    Raises:
        StoreError: the URL is wrong, the store cannot be reached or made, or a newer or an unreleased version
            wrote it.
    """
    from tidegate.scheduler.store.sql.open import open_sql_store

    return open_sql_store(url, create=create, migrate=migrate, may_be_unreleased=may_be_unreleased)


def commits_of(store: UpkeepStore) -> CommitStepStore:
    """The commit sequences of a store that `open_store` has opened, in the same database."""
    from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
    from tidegate.scheduler.store.sql.store import SqlStore

    assert isinstance(store, SqlStore), "only databases keep commit sequences"
    return SqlCommitStepStore(store.engine)


def noting_commits_of(store: UpkeepStore, note: "Note", clock: Callable[[], datetime]) -> CommitStepStore:
    """The same, as a person's command or call uses it: the journal has what is changed, and by whom."""
    from tidegate.scheduler.store.commits.noted import NotedCommitStepStore
    from tidegate.scheduler.store.sql.store import SqlStore

    assert isinstance(store, SqlStore), "only databases keep commit sequences"
    return NotedCommitStepStore(store.engine, note, clock)
