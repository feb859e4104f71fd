"""Alarms: deadlines are swept and alerts collected in the loop of the host, or in a tick of the sensor.

They are sent beside it.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from tidegate.alerts.deliver import Delivery, deliver
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.dispatch.pace import Turns
from tidegate.domain.commit_store import CommitStepStore
from tidegate.scheduler.alerts.collect import BlockedCommit, collect
from tidegate.scheduler.intake.table_checks import table_checks
from tidegate.scheduler.model.records.alert import ALERTS, LOST_ROWS
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.deadlines import sweep_deadlines
from tidegate.spark_jobs.commit.recovery import is_blocked
from tidegate.spark_jobs.commit.sequence import is_watermark_resource

COLLECT_SECONDS = 1
COMMITS_SECONDS = 10
"""From one look for blocked commits to the next."""

DEADLINES_SECONDS = 10
"""From one sweep for deadlines to the next, and the time by which an entry may follow its deadline."""


@dataclass(frozen=True, slots=True)
class Alarms:
    """What the ticks of a process have in common for alerts."""

    delivery: Delivery = field(default_factory=Delivery)
    turns: Turns = field(default_factory=lambda: Turns(COLLECT_SECONDS))
    commits: Turns = field(default_factory=lambda: Turns(COMMITS_SECONDS))
    deadlines: Turns = field(default_factory=lambda: Turns(DEADLINES_SECONDS))

    def run(self, location: Location, now: datetime, log: Callable[[str], None]) -> None:
        """Collect alerts, and start to send what is due."""
        self.turns.run(lambda: self._run(location, now, log))

    def _run(self, location: Location, now: datetime, log: Callable[[str], None]) -> None:
        store, project = location.open_store(), location.project
        looked: list[dict[str, BlockedCommit]] = []
        self.commits.run(
            lambda: looked.append(
                blocked_commits(location.open_commits(), now) | lost_rows(store, project, now)
            )
        )
        self.deadlines.run(lambda: sweep_deadlines(store, now))
        collect(store, project, location.alerts.rules, now, looked[0] if looked else None)
        with store.reading() as reader:
            due = bool(reader.due_records(ALERTS, now, 1, project=project))
        if due:
            channels, clock = location.alerts.channels, location.clock
            calls = self.delivery.calls
            self.delivery.start(lambda: deliver(store, project, channels, clock, calls), log)


def blocked_commits(commits: CommitStepStore, now: datetime) -> dict[str, BlockedCommit]:
    """Return the commits that only a person can finish, by id."""
    states = {commit: commits.recovery_state(commit) for commit in commits.list_unfinished()}
    return {
        commit: BlockedCommit(commit=commit, dataset=_dataset(commits, commit), error=state.error, at=now)
        for commit, state in states.items()
        if state is not None and is_blocked(state)
    }


def lost_rows(store: Store, project: str, now: datetime) -> dict[str, BlockedCommit]:
    """Return the watermarks whose rows are gone: runs of their programs stop, until a person acts."""
    with store.reading() as reader:
        checks = table_checks(reader, project)
    return {
        one.where: BlockedCommit(
            commit=one.where,
            dataset=one.output,
            error=f"{LOST_ROWS}the watermark of {one.where}: {one.fact}",
            at=now,
        )
        for one in (() if checks is None else checks.lost)
    }


def _dataset(commits: CommitStepStore, commit: str) -> str:
    """Return the first dataset that a commit writes; "" if its text cannot be read."""
    try:
        names: list[str] = json.loads(commits.get(commit) or "{}").get("datasets", [])
    except ValueError:
        return ""
    return next((name for name in names if not is_watermark_resource(name)), "")
