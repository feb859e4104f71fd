"""What Hypothesis draws for alerts, and the questions that are asked about them; see `drawn`."""

from datetime import datetime
from typing import Any

from hypothesis import strategies as st

from tests.worlds.samples import at
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.records.alert import (
    ALERTS,
    INCIDENTS,
    Alert,
    AlertKind,
    AlertState,
    Happening,
    Incident,
    Message,
)
from tidegate.scheduler.model.records.expected import EXPECTED_PERIODS
from tidegate.scheduler.model.records.partitions_report import PARTITIONS_REPORTS
from tidegate.scheduler.model.records.session import SESSIONS
from tidegate.scheduler.store.engine_reader import EngineReader

MANY = 100

ids = st.sampled_from(["a", "B", "b", "ä", "Z%"])
projects = st.sampled_from(["", "p", "P"])
kinds = st.sampled_from(list(AlertKind))
subjects = st.sampled_from(["a/s", "a/S", "ä/t"])
instants = st.integers(0, 4).map(at)
texts = st.sampled_from(["", "ä\n"])

incidents = st.builds(
    Incident,
    id=ids,
    project=projects,
    kind=kinds,
    subject=subjects,
    opened_at=instants,
    count=st.integers(0, 9),
    said=st.integers(0, 3),
    alarmed=st.booleans(),
    open=st.lists(texts, max_size=2).map(tuple),
    last=st.builds(Happening, kind=kinds, subject=subjects, cause=ids, at=instants, text=texts),
    quiet_until=instants,
)
alerts = st.builds(
    Alert,
    id=ids,
    project=projects,
    channel=st.sampled_from(["ops", "Ops"]),
    kind=kinds,
    subject=subjects,
    message=st.builds(
        Message, kind=kinds, project=projects, subject=subjects, at=instants, since=instants, text=texts
    ),
    state=st.sampled_from(list(AlertState)),
    made_at=instants,
    tries=st.integers(0, 3),
    next_at=st.none() | instants,
    error=texts,
    ended_at=st.none() | instants,
)

ARGUMENTS: dict[str, tuple[st.SearchStrategy[Any], ...]] = {
    "drop_old": (
        st.sampled_from([ALERTS, EXPECTED_PERIODS, PARTITIONS_REPORTS, SESSIONS]),
        instants,
        st.integers(1, 2),
    ),
}


def answers(reader: EngineReader, now: datetime) -> list[Any]:
    """What a reader says to every question about alerts."""
    return [
        reader.schedules(deadline=True),
        [each.entry for each in reader.journal_page(kinds=set(EntryKind), until=10**9, first=MANY)],
        reader.records(INCIDENTS, project=["p"]),
        reader.alerts("p", limit=2),
        reader.alerts("P", ids=["a", "b"], states=[AlertState.PENDING, AlertState.DEAD]),
        reader.due_records(ALERTS, now, 2, project="p"),
        reader.due_records(ALERTS, at(9), MANY, project=""),
        reader.alert_counts("p"),
        reader.alert_counts("p", "a"),
        reader.alerts("p", app="a", limit=2),
        reader.alerts("p", channel="ops", before=(at(2), "b")),
        reader.alerts("p", app="ä", channel="Ops", before=(at(9), "Z%"), limit=1),
    ]
