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
) -> Generator[Store, None, None]:
    """Open the project's store and close it at the end; local times are from now on those of the project.

    Args:
        settings: settings of the project; default: the project of the working folder.
        create: create a store that does not exist.
        missing_is_empty: return an empty store in memory if the store does not exist.
        as_it_is: refuse a store of an older version in place of bringing its schema up to date.

    Raises:
        StoreError: the store cannot be used.
    """
    settings = settings or load_settings()
    use_zone(settings.timezone)
    store = _open(settings.store_url, create, missing_is_empty, as_it_is)
    try:
        yield store
    finally:
        store.close()


def _open(url: str, create: bool, missing_is_empty: bool, as_it_is: bool) -> Store:
    try:
        return open_store(url, create=create, migrate=not as_it_is)
    except StoreMissing:
        if not missing_is_empty:
            raise
        return MemoryStore()
