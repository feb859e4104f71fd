"""Each store has the methods of its users, and no other: in memory those of the engine, in SQL all."""

from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.store.memory.reader import MemoryReader
from tidegate.scheduler.store.memory.store import MemoryTransaction
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.store.sql.known import KnowingReader
from tidegate.scheduler.store.sql.writer import SqlTransaction
from tidegate.scheduler.store.upkeep import UpkeepTransaction

OF_THE_SHELL = {"settle"}
"""What the store in SQL calls at the end of each of its own transactions."""

OF_COUNTS = {"remove_counted"}
"""What `remove_deliveries` calls."""


def public(of: type) -> set[str]:
    return {name for name in dir(of) if not name.startswith("_")} - OF_THE_SHELL - OF_COUNTS


def test_the_store_in_memory_has_what_the_engine_calls_and_no_more() -> None:
    assert public(MemoryReader) == public(EngineReader)
    assert public(MemoryTransaction) == public(EngineTransaction)


def test_the_store_in_sql_has_what_lists_and_upkeep_call_beside_it() -> None:
    assert public(KnowingReader) == public(ListingReader)
    assert public(SqlTransaction) == public(UpkeepTransaction)
    assert not public(EngineTransaction) & (public(ListingReader) - public(EngineReader))
