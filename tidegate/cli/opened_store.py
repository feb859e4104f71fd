"""The store of the project that a command works on, opened for as long as the command needs it.

What a person can put right (no store yet, a server that is down, a request that the engine
refuses) is a `UserError`, which the command line prints.
"""

from collections.abc import Generator
from contextlib import contextmanager

from tidegate.project.settings import Settings, load_settings
from tidegate.scheduler.store.error import StoreMissing
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store


@contextmanager
def opened_store(
    settings: Settings | None = None, *, create: bool = False, missing_is_empty: bool = False
) -> Generator[Store, None, None]:
    """The project's store.

    Args:
        settings: of the project; by default those of the project around the working folder.
        create: make a store that does not exist yet.
        missing_is_empty: look at an empty store in memory where there is none, and make none.

    Raises:
        StoreError: the store cannot be used.
    """
    url = (settings or load_settings()).store_url
    store = _open(url, create, missing_is_empty)
    try:
        yield store
    finally:
        store.close()


def _open(url: str, create: bool, missing_is_empty: bool) -> Store:
    try:
        return open_store(url, create=create)
    except StoreMissing:
        if not missing_is_empty:
            raise
        return MemoryStore()
