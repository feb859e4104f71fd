"""The contract of alerts: the outbox, the incidents, and the entries that they are made from."""

from typing import Any

import msgspec

from tests.alerts.samples import alert
from tests.worlds.samples import at
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.records.alert import (
    ALERTS,
    INCIDENTS,
    Alert,
    AlertKind,
    AlertState,
    Happening,
    Incident,
)
from tidegate.scheduler.store.answers import AlertCount
from tidegate.scheduler.store.protocol import Store


def made(id: str, **changes: Any) -> Alert:
    return msgspec.structs.replace(
        alert(id=id, text="ä\n"), **({"made_at": at(1), "next_at": at(1)} | changes)
    )


def incident(id: str, project: str = "p") -> Incident:
    last = Happening(kind=AlertKind.LATE, subject="a/s", cause="k", at=at(2), text="ü")
    kept = {"opened_at": at(1), "quiet_until": at(9), "open": ("k", ""), "count": 3, "said": 1}
    return Incident(id=id, project=project, kind=AlertKind.LATE, subject="a/s", last=last, **kept)


def test_alerts_are_kept_and_replaced_by_their_id(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_records(ALERTS, [made("a"), made("b", made_at=at(2)), made("c", project="q")])
        sent = made("a", state=AlertState.SENT, next_at=None, ended_at=at(3), tries=2, error="x")
        transaction.put_records(ALERTS, [sent])
    with store.reading() as reader:
        assert [each.id for each in reader.alerts("p")] == ["b", "a"]
        assert reader.alerts("p", ids=["a", "c"]) == (sent,)
        assert [each.id for each in reader.alerts("p", states=[AlertState.PENDING])] == ["b"]
        assert [each.id for each in reader.alerts("p", limit=1)] == ["b"]
        assert reader.alert_counts("p") == (
            AlertCount(channel="ops", kind=AlertKind.FAILED, state=AlertState.PENDING, alerts=1),
            AlertCount(channel="ops", kind=AlertKind.FAILED, state=AlertState.SENT, alerts=1),
        )


def test_alerts_are_found_by_channel_and_app_and_read_in_pages(store: Store) -> None:
    with store.transaction() as transaction:
        late = [made("d", made_at=at(2)), made("c", made_at=at(2), channel="Ops")]
        others = [made("a", subject="Sales/report"), made("b", subject="sales2/report")]
        transaction.put_records(ALERTS, [*late, *others, made("e")])
    with store.reading() as reader:
        assert [each.id for each in reader.alerts("p", app="sales")] == ["c", "d", "e"]
        assert [each.id for each in reader.alerts("p", app="Sales")] == ["a"]
        assert [each.id for each in reader.alerts("p", channel="Ops")] == ["c"]
        assert [each.id for each in reader.alerts("p", before=(at(2), "c"), limit=2)] == ["d", "a"]
        assert [each.id for each in reader.alerts("p", before=(at(1), "a"))] == ["b", "e"]
        (only,) = reader.alert_counts("p", "sales2")
        assert (only.channel, only.alerts) == ("ops", 1)


def test_what_is_due_comes_first(store: Store) -> None:
    with store.transaction() as transaction:
        later = [made("b", next_at=at(5)), made("a", next_at=at(5)), made("c", next_at=at(4))]
        transaction.put_records(ALERTS, [*later, made("not yet", next_at=at(6)), made("over", next_at=None)])
    with store.reading() as reader:
        assert [each.id for each in reader.due_records(ALERTS, at(5), 9, project="p")] == ["c", "a", "b"]
        assert [each.id for each in reader.due_records(ALERTS, at(5), 1, project="p")] == ["c"]
        assert reader.due_records(ALERTS, at(5), 9, project="q") == ()


def test_old_alerts_go_once_they_have_ended(store: Store) -> None:
    over = {"state": AlertState.DEAD, "next_at": None}
    with store.transaction() as transaction:
        old = [made("older", ended_at=at(1), **over), made("old", ended_at=at(2), **over)]
        transaction.put_records(ALERTS, [*old, made("new", ended_at=at(5), **over), made("pending")])
        assert transaction.drop_old(ALERTS, at(5), 1) == 1
        assert transaction.drop_old(ALERTS, at(5), 9) == 1
        assert {each.id for each in transaction.alerts("p")} == {"new", "pending"}


def test_incidents_are_kept_and_removed(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_records(INCIDENTS, [incident("b"), incident("a"), incident("c", project="q")])
        transaction.drop_records(INCIDENTS, ["b", "unknown"])
    with store.reading() as reader:
        assert reader.records(INCIDENTS, project=["p"]) == (incident("a"),)


def test_entries_of_some_kinds_are_read_after_a_number(store: Store) -> None:
    kinds = (EntryKind.RUN, EntryKind.EVENT, EntryKind.RUN, EntryKind.DISCARDED, EntryKind.RUN)
    with store.transaction() as transaction:
        transaction.add_journal([Entry(at=at(n), kind=kind) for n, kind in enumerate(kinds)])
    with store.reading() as reader:
        first, last = reader.journal_ends()
        found = reader.journal_page(
            kinds={EntryKind.RUN, EntryKind.DISCARDED}, after=first, until=last - 1, first=9
        )
        assert [row.entry.at for row in found] == [at(2), at(3)]
        assert len(reader.journal_page(kinds={EntryKind.RUN}, until=last, first=2)) == 2
