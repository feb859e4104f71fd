"""The project's store, open while a command needs it.

Errors that a user can fix (a missing store, a server that is down, a request that the engine
refuses) are a `UserError`, which the command line prints.
"""

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import TypeVar

from tidegate.project.local_time import use_zone
from tidegate.project.settings.settings import Settings, load_settings
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.error import StoreMissing
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.upkeep import UpkeepStore

T = TypeVar("T")


@contextmanager
def opened_store(
    settings: Settings | None = None,
    *,
    create: bool = False,
    as_it_is: bool = False,
    may_be_unreleased: bool = False,
) -> Generator[UpkeepStore, None, None]:
    """Open the project's store and close it at the end; local times are from now on those of the project.

    Args:
        settings: settings of the project; default: the project of the working folder.
        create: create a store that does not exist.
        as_it_is: refuse a store of an older version in place of bringing its schema up to date.
        may_be_unreleased: open a store of an unreleased version too, to read its journal.

    Raises:
        StoreError: the store cannot be used.
    """
    settings = settings or load_settings()
    use_zone(settings.timezone)
    store = open_store(
        settings.store_url, create=create, migrate=not as_it_is, may_be_unreleased=may_be_unreleased
    )
    try:
        yield store
    finally:
        store.close()


def ask_store(settings: Settings, question: Callable[[ListingReader], T], empty: T) -> T:
    """Return the store's answer to a question, or the empty one if the project has no store yet."""
    try:
        with opened_store(settings) as store, store.reading() as reader:
            return question(reader)
    except StoreMissing:
        return empty


@contextmanager
def deployed_state(settings: Settings) -> Generator[EngineReader, None, None]:
    """Open what is deployed for reading; without a store nothing is."""
    with ExitStack() as opened:
        try:
            reader: EngineReader = opened.enter_context(
                opened.enter_context(opened_store(settings)).reading()
            )
        except StoreMissing:
            from tidegate.scheduler.store.memory.reader import nothing

            reader = nothing()
        yield reader
