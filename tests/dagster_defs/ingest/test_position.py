"""The position: what advances it, and how it notices that the log has changed under it."""

from datetime import UTC, datetime, timedelta

import pytest

from tidegate.dagster_defs.ingest.position import (
    Position,
    Row,
    content_id,
    decode_position,
    encode_position,
    fingerprint,
)

T0 = datetime(2023, 3, 10, 12, 0, tzinfo=UTC)


def row(id_: int, *, at: datetime = T0, run: str = "r1", kind: str = "ASSET_MATERIALIZATION") -> Row:
    return Row(id=id_, kind=kind, run_id=run, body="{}", at=at)


def test_it_stands_at_the_last_row_and_knows_what_was_missing() -> None:
    position = Position(id=4, mark="x", at=T0)

    moved = position.advanced([row(5), row(8)], [], T0)

    assert (moved.id, moved.mark) == (8, fingerprint(row(8)))
    assert [(h.first, h.last) for h in moved.holes] == [(6, 7)]


def test_nothing_is_missing_before_the_first_row_of_a_log() -> None:
    moved = Position().advanced([row(9000), row(9002)], [], T0)

    assert [(h.first, h.last) for h in moved.holes] == [(9001, 9001)]


def test_a_hole_that_is_filled_is_closed() -> None:
    position = Position(id=4, mark="x", at=T0).advanced([row(5), row(8)], [], T0)

    moved = position.advanced([], [row(6)], T0 + timedelta(seconds=5))

    assert [(h.first, h.last) for h in moved.holes] == [(7, 7)]
    assert moved.id == 8


def test_an_early_row_is_looked_up_again_until_it_is_over() -> None:
    later = T0 + timedelta(seconds=5)
    position = Position(id=4, mark="x", at=T0).advanced([row(5), row(8)], [], T0, {5, 8})
    assert [(hole.first, hole.last) for hole in position.holes] == [(5, 5), (6, 7), (8, 8)]
    assert position.id == 8
    assert position.advanced([], [row(5), row(8)], later, {5, 8}) == position
    moved = position.advanced([], [row(5), row(8)], later, {8})
    assert [(hole.first, hole.last) for hole in moved.holes] == [(6, 7), (8, 8)]


def test_without_rows_only_holes_age() -> None:
    position = Position(id=4, mark="x", at=T0).advanced([row(5), row(8)], [], T0)

    assert position.advanced([], [], T0 + timedelta(seconds=10)) == position
    assert position.advanced([], [], T0 + timedelta(seconds=1000)).holes == ()


@pytest.mark.parametrize(
    ("now_there", "holds"),
    [
        (row(8), True),
        (None, False),
        (row(8, at=T0 + timedelta(microseconds=1)), False),
        (row(8, run="r2"), False),
        (row(8, kind="PIPELINE_START"), False),
    ],
    ids=["same", "deleted", "other time", "other run", "other kind"],
)
def test_it_recognises_the_row_it_stands_at(now_there: Row | None, holds: bool) -> None:
    assert Position(id=8, mark=fingerprint(row(8)), at=T0).matches(now_there) is holds


def test_the_beginning_always_holds() -> None:
    assert Position().matches(None)


def test_it_survives_the_store() -> None:
    position = Position(id=4, mark="x", at=T0).advanced([row(5), row(8)], [], T0)

    assert decode_position(encode_position(position)) == position
    assert decode_position(None) == Position()


def test_the_id_of_an_event_comes_from_its_content_alone() -> None:
    assert content_id('{"a": 1}') == content_id('{"a": 1}')
    assert content_id('{"a": 1}') != content_id('{"a": 2}')
