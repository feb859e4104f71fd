"""Collect: the entries of the journal since the last time become incidents, and alerts in the outbox.

    journal after the cursor ─┐
    blocked commits           ├─► incidents ─► alerts for the routed channels, and the cursor: one transaction
    windows that are over     ─┘

The entry of a failure is durable with the failure itself. The cursor moves in the transaction that stores the
alerts, so a crash anywhere makes each alert once. Each project collects for its own apps.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

import msgspec

from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.domain.model import Dataset
from tidegate.domain.model.shared import Routes, channels_of
from tidegate.domain.part_name import app_of, name_of
from tidegate.domain.value import Value
from tidegate.scheduler.alerts.happenings import (
    KINDS,
    OF_HISTORY,
    cause_of,
    happening_of,
    is_of_data,
    is_well,
    late_data,
)
from tidegate.scheduler.decision.alerts import Said, is_owed, troubled, well, window_over
from tidegate.scheduler.model.deployed import APPS, DeployedApp, ScheduleState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.records.alert import (
    ALERTS,
    INCIDENTS,
    Alert,
    AlertKind,
    AlertRules,
    Happening,
    Incident,
    Message,
    alert_id,
    incident_id,
)
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.store.upkeep import UpkeepStore, UpkeepTransaction

ENTRIES_PER_PASS = 500
"""Entries that one transaction looks at."""

LOOKS_BACK = timedelta(hours=1)
"""The first collection of a project makes no alerts of entries older than this."""

OF_JOBS = (AlertKind.FAILED, AlertKind.DEAD_LETTER, AlertKind.LATE)
"""The kinds that a successful job ends."""


class BlockedCommit(Value, kw_only=True):
    """A publish that only a person can finish.

    Attributes:
        dataset: "app/dataset".
        error: of the last try.
    """

    commit: str
    dataset: str
    error: str
    at: datetime


def collect(
    store: UpkeepStore,
    project: str,
    rules: AlertRules,
    now: datetime,
    blocked: Mapping[str, BlockedCommit] | None = None,
) -> int:
    """Collect what happened since the last time.

    Args:
        blocked: the blocked commits by id; None if they were not looked at.

    Returns:
        The number of alerts that were put into the outbox.
    """
    with store.reading() as reader:
        if not _has_work(reader, project, now, blocked):
            return 0
    with store.transaction() as transaction:
        collecting = _Collecting(transaction, project, rules, now)
        collecting.journal()
        if blocked is not None:
            collecting.commits(blocked)
        collecting.windows()
        return collecting.store()


def _has_work(
    reader: ListingReader, project: str, now: datetime, blocked: Mapping[str, BlockedCommit] | None
) -> bool:
    if reader.journal_ends()[1] > _position(reader, project, now)[0]:
        return True
    known = reader.records(INCIDENTS, project=[project])
    if any(each.quiet_until <= now and is_owed(each) for each in known):
        return True
    open_commits = {cause for each in known if each.kind is AlertKind.BLOCKED_COMMIT for cause in each.open}
    return blocked is not None and open_commits != set(blocked)


def _cursor(project: str) -> str:
    return f"alerts of {project}"


def _position(reader: EngineReader, project: str, now: datetime) -> tuple[int, datetime]:
    """Return the number of the last entry that was looked at, and from when on entries count."""
    noted: dict[str, Any] | None = reader.cursor(_cursor(project))
    if noted is None:
        return 0, now - LOOKS_BACK
    # The first collection may have been by a clock that was ahead.
    return noted["number"], min(datetime.fromisoformat(noted["since"]), now - LOOKS_BACK)


class _Collecting:
    """One transaction of it."""

    def __init__(
        self, transaction: UpkeepTransaction, project: str, rules: AlertRules, now: datetime
    ) -> None:
        self._transaction = transaction
        self._project = project
        self._rules = rules
        self._now = now
        self._apps: dict[str, DeployedApp] = {
            app.name: app for app in transaction.records(APPS) if app.project in (project, NO_PROJECT)
        }
        self._before = {each.id: each for each in transaction.records(INCIDENTS, project=[project])}
        self._incidents = dict(self._before)
        self._alerts: list[Alert] = []
        self._schedules: dict[str, ScheduleState | None] = {}

    def journal(self) -> None:
        """Look at the entries after the cursor."""
        number, since = _position(self._transaction, self._project, self._now)
        last = self._transaction.journal_ends()[1]
        rows = self._transaction.journal_page(kinds=KINDS, after=number, until=last, first=ENTRIES_PER_PASS)
        entries = [row.entry for row in rows if row.entry.at >= since]
        jobs = {job.id: job for job in self._transaction.jobs(ids={each.job for each in entries if each.job})}
        for entry in entries:
            if is_of_data(entry):
                self._data(entry)
                continue
            job = jobs.get(entry.job or "")
            if job is None or job.app not in self._apps:
                continue
            if is_well(entry):
                for kind in OF_JOBS:
                    self._well(kind, job.schedule, cause_of(job), entry.at)
            else:
                happening = happening_of(entry, job, self._history(entry))
                if happening is not None:
                    self._trouble(happening)
        reached = rows[-1].number if len(rows) == ENTRIES_PER_PASS else last
        noted = {"number": reached, "since": since.isoformat()}
        self._transaction.set_cursor(_cursor(self._project), noted)

    def _data(self, entry: Entry) -> None:
        dataset, key = entry.data["dataset"], entry.data["key"]
        if app_of(dataset) not in self._apps:
            return
        if entry.kind is EntryKind.LATE:
            self._trouble(late_data(entry))
        else:
            self._well(AlertKind.LATE, dataset, key, entry.at, data=True)

    def commits(self, blocked: Mapping[str, BlockedCommit]) -> None:
        """Look at the blocked commits."""
        kind = AlertKind.BLOCKED_COMMIT
        known = [each for each in self._incidents.values() if each.kind is kind]
        for incident in known:
            for cause in set(incident.open) - blocked.keys():
                self._well(kind, incident.subject, cause, self._now)
        heard = {cause for incident in known for cause in incident.open}
        for commit, found in sorted(blocked.items()):
            if commit not in heard and app_of(found.dataset) in self._apps:
                self._trouble(
                    Happening(kind=kind, subject=found.dataset, cause=commit, at=self._now, text=found.error)
                )

    def windows(self) -> None:
        """Look at the incidents whose window is over."""
        for incident in list(self._incidents.values()):
            if incident.quiet_until <= self._now and is_owed(incident):
                self._take(incident, window_over(incident, self._now, self._window(incident)))

    def store(self) -> int:
        """Store what has changed."""
        changed = [each for id, each in self._incidents.items() if self._before.get(id) != each]
        self._transaction.put_records(INCIDENTS, changed)
        self._transaction.drop_records(INCIDENTS, self._before.keys() - self._incidents.keys())
        self._transaction.put_records(ALERTS, self._alerts)
        return len(self._alerts)

    def _trouble(self, happening: Happening) -> None:
        channels = self._channels(happening.kind, happening.subject, self._routes(happening))
        for window in dict.fromkeys(map(self._rules.window_of, channels)):
            before = self._incidents.get(incident_id(self._project, happening, window))
            said = troubled(before, happening, self._project, window)
            assert said.incident is not None, "trouble is remembered"
            self._take(said.incident, said)

    def _well(self, kind: AlertKind, subject: str, cause: str, at: datetime, *, data: bool = False) -> None:
        for incident in list(self._incidents.values()):
            if (incident.kind, incident.subject, incident.last.data) == (kind, subject, data):
                self._take(incident, well(incident, cause, at))

    def _window(self, incident: Incident) -> timedelta:
        """Return the window of an incident; the general one if no channel has its own any longer."""
        windows = {self._rules.window, *self._rules.windows.values()}
        ids = {incident_id(self._project, incident.last, window): window for window in windows}
        return ids.get(incident.id, self._rules.window)

    def _take(self, incident: Incident, said: Said) -> None:
        if said.incident is None:
            del self._incidents[incident.id]
        else:
            self._incidents[incident.id] = said.incident
        if said.message is not None:
            self._alerts += self._of(incident, said.message)

    def _of(self, incident: Incident, message: Message) -> list[Alert]:
        owner, routes = self._owner(incident.last), self._routes(incident.last)
        window = self._window(incident)
        message = self._with_links(
            message if owner is None else msgspec.structs.replace(message, owner=owner)
        )
        return [
            Alert(
                id=alert_id(incident, message.kind, channel),
                project=self._project,
                channel=channel,
                kind=message.kind,
                subject=message.subject,
                message=message,
                made_at=self._now,
                next_at=self._now,
            )
            for channel in self._channels(message.kind, message.subject, routes)
            if self._rules.window_of(channel) == window
        ]

    def _with_links(self, message: Message) -> Message:
        rules = self._rules
        page = f"jobs/{quote(message.job, safe='')}" if message.job else "alerts"
        return msgspec.structs.replace(
            message,
            environment=rules.environment,
            run_url=f"{rules.ui}/runs/{quote(message.run, safe='')}" if rules.ui and message.run else "",
            board_url=f"{rules.board}/board/{page}" if rules.board else "",
        )

    def _channels(self, kind: AlertKind, subject: str, own: Routes) -> tuple[str, ...]:
        app = self._apps.get(app_of(subject))
        return channels_of(kind, own, {} if app is None else app.app.alerts, self._rules.default)

    def _routes(self, happening: Happening) -> Routes:
        """Return the routes of what an incident is about: a schedule, a task or a dataset."""
        if _is_of_dataset(happening):
            dataset = self._dataset(happening.subject)
            return {} if dataset is None else dataset.alerts
        state = self._schedule(happening.subject)
        return {} if state is None else state.spec.alerts

    def _owner(self, happening: Happening) -> str | None:
        if _is_of_dataset(happening):
            dataset = self._dataset(happening.subject)
            return None if dataset is None else dataset.owner
        state = self._schedule(happening.subject)
        return None if state is None else state.spec.owner

    def _dataset(self, whole: str) -> Dataset | None:
        app = self._apps.get(app_of(whole))
        return None if app is None else app.app.datasets.get(name_of(whole))

    def _schedule(self, ref: str) -> ScheduleState | None:
        if ref not in self._schedules:
            self._schedules[ref] = next(iter(self._transaction.schedules(refs=[ref])), None)
        return self._schedules[ref]

    def _history(self, entry: Entry) -> tuple[Entry, ...]:
        return self._transaction.journal(job=entry.job, kinds=OF_HISTORY)


def _is_of_dataset(happening: Happening) -> bool:
    return happening.data or happening.kind is AlertKind.BLOCKED_COMMIT
