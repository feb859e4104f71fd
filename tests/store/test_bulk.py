"""Sets of rows are written alike whether they are empty, hold a row twice, or need more than one text."""

import pytest

from tests.worlds.samples import at, delivery, entry, event, job, launched
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.sql.statements import bulk

COUNTS = (0, 1, 2, 3, 4, 7)
"""Around the number of rows in one text, which is three here."""


@pytest.fixture(autouse=True)
def small_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "ROWS_PER_TEXT", 3)


@pytest.mark.parametrize("count", COUNTS)
def test_no_row_is_lost_between_two_texts_and_the_journal_keeps_its_order(store: Store, count: int) -> None:
    events = tuple(event(f"e{n}", n) for n in range(count))
    jobs = tuple(job(f"j{n}", opened_at=at(n)) for n in range(count))
    entries = tuple(entry(at=at(-n), data={"n": n}) for n in range(count))
    with store.transaction() as transaction:
        assert transaction.add_events(events) == events
        transaction.put_jobs(jobs)
        transaction.add_deliveries([delivery(each, job="j0") for each in events])
        transaction.add_journal(entries)
        transaction.mark_routed([each.id for each in events])
    with store.reading() as reader:
        assert reader.events() == events[::-1]
        assert reader.unrouted_events(9) == ()
        assert reader.jobs() == jobs
        assert [each.event for each in reader.deliveries(["j0"])["j0"]] == list(events)
        assert reader.journal() == entries


def test_of_a_row_that_is_there_twice_the_last_one_stands(store: Store) -> None:
    given = [job("j", detail=str(n)) for n in range(5)]
    with store.transaction() as transaction:
        transaction.put_jobs([*given, job("k")])
        assert transaction.jobs(ids=["j"]) == (given[-1],)


def test_of_a_row_that_is_only_added_the_first_one_stands(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.add_launches([launched("j", n) for n in range(1, 6)])
        transaction.take_slots({"j": ["r", "r"], "k": ["r"]})
        transaction.take_slots({"j": ["r"], "l": []})
        assert transaction.launches(["a/p"], at(0)) == {"a/p": (at(1),)}
        assert transaction.slots(["r"]) == {"r": 2}


@pytest.mark.parametrize(
    "text", ['"', "'", "\\", "%", "%(rows)s", "$1", "{}", "\n\t", "ü\U0001f30a", "null", " "]
)
def test_a_text_is_kept_whatever_it_holds(store: Store, text: str) -> None:
    """A set may travel as JSON, in which some of these mean something."""
    with store.transaction() as transaction:
        transaction.put_jobs([job(text, f"a/{text}", key=text, detail=text)])
        transaction.add_events([event(text, key=f"partition:a/{text}", partition=text, detail=text)])
        transaction.add_journal([entry(job=text, data={text: text})])
    with store.reading() as reader:
        assert reader.jobs(ids=[text]) == (job(text, f"a/{text}", key=text, detail=text),)
        assert reader.jobs(schedules=[f"a/{text}"], limit=1) == reader.jobs()
        assert reader.events(ids=[text])[0].partition == text
        assert reader.events(key_prefix=f"partition:a/{text}") == reader.events()
        assert reader.journal(job=text)[0].data == {text: text}
