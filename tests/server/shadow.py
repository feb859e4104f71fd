"""Writers, and what a server has answered to them: what its store must have after a crash.

A write that was answered is kept; one that was not is kept whole or not at all. So of what was being written
both states are possible, the one before and the one after, and of everything else one.
"""

import random
from collections.abc import Callable
from typing import Any

import httpx

from tests.server.sales import SCHEDULES, SPEC
from tests.server.serving import NS
from tidegate.scheduler.model.event import SUBSCRIPTIONS, partition_event_key
from tidegate.scheduler.store.engine_reader import EngineReader

RAW = {"partitions": {"cycle": "day", "start": "2000-01-01"}}
APP = {**SPEC, "datasets": {**SPEC["datasets"], "raw": RAW}}
"""The app, with days enough for many reports."""

ENTRY = {"program": "clean", "for_each": "day", "trigger": {"partitions": {"dataset": "raw"}}}
KEPT = {"each_day", "daily"}
"""The schedules of the app, which no writer changes; `each_day` collects the reported days."""

DAYS_OF_REPORT = 3

State = tuple[str, int, int] | None
"""Status, argument and revision of a schedule; None while there is none."""


class Writer:
    """A client that changes schedules of its own and reports days of its own, until the server dies.

    Attributes:
        possible: the states that each schedule may have.
        reported: the days of each report, by its request.
        unanswered: the requests that may have been taken or not.
    """

    def __init__(self, number: int, seed: int) -> None:
        self._number = number
        self._chance = random.Random(seed * 10 + number)
        self._made = 0
        self.possible: dict[str, list[State]] = {}
        self.reported: dict[str, list[str]] = {}
        self.unanswered: set[str] = set()

    def write(self, client: httpx.Client, answered: Callable[[], None]) -> None:
        """Write until the server dies.

        Args:
            answered: called after each write that was answered.
        """
        for _ in range(1_000_000):
            try:
                self._next()(client)
            except httpx.TransportError:
                return
            answered()
        raise AssertionError("the server was not killed")

    def report_again(self, client: httpx.Client) -> None:
        """Repeat the reports that were not answered; each counts once."""
        for request in sorted(self.unanswered):
            assert _report(client, request, self.reported[request]).status_code in (200, 202)
        self.unanswered.clear()

    def _next(self) -> Callable[[httpx.Client], None]:
        if not self.possible:
            return self._create
        return self._chance.choice([self._create, self._update, self._update, self._switch, self._report])

    def _create(self, client: httpx.Client) -> None:
        self._made += 1
        name = f"w{self._number}_{self._made}"
        body = {**ENTRY, "args": {"n": 0}}
        self._change(name, ("suspended", 0, 1), lambda: client.put(f"{SCHEDULES}/{name}", json=body))

    def _update(self, client: httpx.Client) -> None:
        name, (status, number, revision) = self._one()
        path, body = f"{SCHEDULES}/{name}/update", {"args": {"n": number + 1}}
        self._change(name, (status, number + 1, revision + 1), lambda: client.post(path, json=body))

    def _switch(self, client: httpx.Client) -> None:
        name, (status, number, revision) = self._one()
        verb, after = ("disable", "suspended") if status == "active" else ("enable", "active")
        path = f"{SCHEDULES}/{name}/{verb}"
        self._change(name, (after, number, revision + 1), lambda: client.post(path, json={}))

    def _report(self, client: httpx.Client) -> None:
        request = f"{self._number}-{len(self.reported)}"
        first = DAYS_OF_REPORT * len(self.reported)
        year = 2001 + self._number
        places = [divmod(first + place, 28) for place in range(DAYS_OF_REPORT)]
        days = [f"{year + month // 12 * 10}-{month % 12 + 1:02}-{day + 1:02}" for month, day in places]
        self.reported[request] = days
        self.unanswered.add(request)
        assert _report(client, request, days).status_code == 202
        self.unanswered.discard(request)

    def _one(self) -> tuple[str, tuple[str, int, int]]:
        name = self._chance.choice(sorted(self.possible))
        (state,) = self.possible[name]
        assert state is not None
        return name, state

    def _change(self, name: str, after: State, call: Callable[[], httpx.Response]) -> None:
        (before,) = self.possible.get(name, [None])
        self.possible[name] = [before, after]
        answer = call()
        assert answer.status_code == 200, answer.text
        self.possible[name] = [after]


def _report(client: httpx.Client, request: str, days: list[str]) -> Any:
    partitions = [{"key": day} for day in days]
    body = {"app": "sales", "dataset": "raw", "partitions": partitions, "request": request}
    return client.post(f"{NS}/events/partitions", json=body)


def check(reader: EngineReader, writers: list[Writer]) -> None:
    """Check that a store has what was answered, and nothing half; then that is what is known."""
    found = {state.name: state for state in reader.schedules()}
    for writer in writers:
        for name, possible in list(writer.possible.items()):
            state = found.get(name)
            seen = None if state is None else (state.status, state.spec.args["n"], state.revision)
            assert seen in possible, name
            assert state is None or state.spec.written["args"] == state.spec.args
            writer.possible[name] = [seen]
            if seen is None:
                del writer.possible[name]
    names = {name for writer in writers for name in writer.possible}
    assert found.keys() == names | KEPT
    listens = {
        each.schedule
        for each in reader.records(SUBSCRIPTIONS, event_key=[partition_event_key("sales", "raw")])
    }
    assert listens == {f"sales/{name}" for name in names | {"each_day"}}
    _check_reports(reader, writers)


def _check_reports(reader: EngineReader, writers: list[Writer]) -> None:
    """Check that each report was taken whole or not at all, and that each day was routed once."""
    jobs = reader.jobs(schedules=["sales/each_day"])
    days = [job.key for job in jobs]
    assert len(days) == len(set(days))
    taken = set(days)
    for writer in writers:
        for request, reported in writer.reported.items():
            found = taken & set(reported)
            assert found in ([set(reported)] if request not in writer.unanswered else [set(), set(reported)])
            taken -= found
    assert not taken
    collected = reader.deliveries([job.id for job in jobs])
    assert {len(each) for each in collected.values()} <= {1}
