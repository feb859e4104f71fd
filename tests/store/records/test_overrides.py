"""The contract of overrides: one of each kind for a schedule or app, and those that expire in their order."""

from datetime import datetime

from tests.worlds.samples import at, schedule
from tidegate.scheduler.model.records.override import OVERRIDES, Override, OverrideKind
from tidegate.scheduler.store.protocol import Store


def override(ref: str, kind: OverrideKind = "status", expires: datetime | None = None) -> Override:
    spec = None if kind in ("status", "held") else schedule(ref).spec
    return Override(
        ref=ref,
        kind=kind,
        owner="cli:ä",
        reason="late\nfeed",
        since=at(0),
        expires_at=expires,
        spec=spec,
        status="active",
    )


def test_an_override_is_kept_and_replaced_by_its_ref_and_kind(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_records(OVERRIDES, [override("a/s"), override("a/s", "specification"), override("a")])
        transaction.put_records(OVERRIDES, [override("a/s", expires=at(3))])
    with store.reading() as reader:
        assert reader.records(OVERRIDES) == (
            override("a"),
            override("a/s", "specification"),
            override("a/s", expires=at(3)),
        )


def test_overrides_are_found_by_app_and_by_ref(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_records(
            OVERRIDES, [override("a", "held"), override("a/s"), override("a/t"), override("ab/s")]
        )
    with store.reading() as reader:
        assert [each.ref for each in reader.records(OVERRIDES, app="a")] == ["a", "a/s", "a/t"]
        assert [each.ref for each in reader.records(OVERRIDES, ref=["ab/s", "a/t", "none"])] == [
            "a/t",
            "ab/s",
        ]
        assert [each.ref for each in reader.records(OVERRIDES, app="a", ref=["ab/s", "a/t"])] == ["a/t"]


def test_what_expires_comes_earliest_first_and_by_ref(store: Store) -> None:
    given = [
        override("a/late", expires=at(9)),
        override("a/t", expires=at(2)),
        override("a/s", expires=at(2)),
        override("a/s", "specification", expires=at(2)),
        override("a/never"),
    ]
    with store.transaction() as transaction:
        transaction.put_records(OVERRIDES, given)
    with store.reading() as reader:
        found = [(each.ref, each.kind) for each in reader.due_records(OVERRIDES, at(2), 9)]
        assert found == [("a/s", "specification"), ("a/s", "status"), ("a/t", "status")]
        assert [each.ref for each in reader.due_records(OVERRIDES, at(2), 1)] == ["a/s"]
        assert reader.due_records(OVERRIDES, at(1.9), 9) == ()


def test_a_deleted_override_leaves_the_other_kind(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_records(OVERRIDES, [override("a/s"), override("a/s", "created"), override("a/t")])
        transaction.drop_records(OVERRIDES, map(OVERRIDES.key_of, [override("a/s"), override("a/none")]))
    with store.reading() as reader:
        assert [(each.ref, each.kind) for each in reader.records(OVERRIDES)] == [
            ("a/s", "created"),
            ("a/t", "status"),
        ]
