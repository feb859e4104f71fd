"""A new kind of records costs its declaration and its table: every store reads, puts and drops it then."""

from collections.abc import Generator
from datetime import datetime

import pytest
from sqlalchemy import Column, MetaData, Table

from tests.worlds.samples import at
from tidegate.domain.value import Value
from tidegate.scheduler.model.kind import Kind
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.sql.columns import Codec, Instant, Name
from tidegate.scheduler.store.sql.records.by_key import CODECS
from tidegate.scheduler.store.sql.store import SqlStore


class Loan(Value, kw_only=True):
    """A book that a reader has; the same book may be with several."""

    book: str
    reader: str
    shelf: str = "A"
    back_at: datetime | None = None


LOANS = Kind(
    name="loans", value=Loan, key=("book", "reader"), by=("shelf",), order=("reader", "book"), due="back_at"
)
LOANS_KEPT = Codec(
    Table(
        "loans",
        MetaData(),
        Column("book", Name, primary_key=True),
        Column("reader", Name, primary_key=True),
        Column("shelf", Name, nullable=False),
        Column("back_at", Instant),
    ),
    Loan,
)

ATLAS, NOVEL = (
    Loan(book="atlas", reader="zoe", back_at=at(2)),
    Loan(book="novel", reader="amy", back_at=at(2)),
)
MAP, GUIDE = Loan(book="atlas", reader="bob", shelf="B", back_at=at(1)), Loan(book="guide", reader="amy")


@pytest.fixture
def library(store: Store, monkeypatch: pytest.MonkeyPatch) -> Generator[Store, None, None]:
    """A store of every kind with four loans."""
    monkeypatch.setitem(CODECS, LOANS, LOANS_KEPT)
    if isinstance(store, SqlStore):
        LOANS_KEPT.table.create(store.engine)
    with store.transaction() as transaction:
        transaction.put_records(LOANS, [ATLAS, NOVEL, MAP, GUIDE])
    yield store


def test_records_are_found_by_their_fields_and_come_in_their_order(library: Store) -> None:
    with library.reading() as reader:
        assert reader.records(LOANS) == (GUIDE, NOVEL, MAP, ATLAS)
        assert reader.records(LOANS, book="atlas") == (MAP, ATLAS)
        assert reader.records(LOANS, book=["atlas", "guide", "none"], reader=["amy", "bob"]) == (GUIDE, MAP)
        assert reader.records(LOANS, shelf="B", book=None) == (MAP,)
        assert reader.records(LOANS, book=[]) == ()


def test_records_are_due_earliest_first_then_in_their_order(library: Store) -> None:
    with library.reading() as reader:
        assert reader.due_records(LOANS, at(1), 9) == (MAP,)
        assert reader.due_records(LOANS, None, 9) == (MAP, NOVEL, ATLAS)
        assert reader.due_records(LOANS, None, 2) == (MAP, NOVEL)
        assert reader.due_records(LOANS, at(2), 9, shelf="A") == (NOVEL, ATLAS)


def test_records_are_replaced_by_their_key_and_dropped_by_it_or_by_how_it_begins(library: Store) -> None:
    later = Loan(book="novel", reader="amy", back_at=at(5))
    with library.transaction() as transaction:
        transaction.put_records(LOANS, [later])
        transaction.drop_records(LOANS, ["atlas", ("guide", "zoe")])
        assert transaction.records(LOANS) == (GUIDE, later)
        transaction.drop_records(LOANS, [LOANS.key_of(GUIDE)])
    with library.reading() as reader:
        assert reader.records(LOANS) == (later,)


def test_a_field_without_an_index_is_refused(library: Store) -> None:
    with library.reading() as reader, pytest.raises(ValueError, match="loans are not found by back_at"):
        reader.records(LOANS, back_at="now")
