"""The project's store, open while a command needs it.

Errors that a user can fix (a missing store, a server that is down, a request that the engine
refuses) are a `UserError`, which the command line prints.
"""

from collections.abc import Generator
from contextlib import contextmanager

from tidegate.project.local_time import use_zone
from tidegate.project.settings.settings import Settings, load_settings
from tidegate.scheduler.store.error import StoreMissing
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store


@contextmanager
def opened_store(
    settings: Settings | None = None,
    *,
    create: bool = False,
    missing_is_empty: bool = False,
    as_it_is: bool = False,
    may_be_unreleased: bool = False,
) -> Generator[Store, None, None]:
    """Open the project's store and close it at the end; local times are from now on those of the project.

    Args:
        settings: settings of the project; default: the project of the working folder.
        create: create a store that does not exist.
        missing_is_empty: return an empty store in memory if the store does not exist.
        as_it_is: refuse a store of an older version in place of bringing its schema up to date.
        may_be_unreleased: open a store of an unreleased version too, to read its journal.

    Raises:
        StoreError: the store cannot be used.
    """
    settings = settings or load_settings()
    use_zone(settings.timezone)
    try:
        store: Store = open_store(
            settings.store_url, create=create, migrate=not as_it_is, may_be_unreleased=may_be_unreleased
        )
    except StoreMissing:
        if not missing_is_empty:
            raise
        store = MemoryStore()
    try:
        yield store
    finally:
        store.close()
