"""`run`: satisfied when enough runs of a program have started or ended as asked."""

from collections.abc import Sequence
from datetime import datetime

from tidegate.domain.model import RunTrigger
from tidegate.domain.wording import plural
from tidegate.scheduler.decision.triggers.collected import Collected
from tidegate.scheduler.decision.triggers.leaf import Counting, Deliveries, LeafKind, each_event, one
from tidegate.scheduler.model.records.tally import LeafTally
from tidegate.scheduler.model.verdict import Count

Arrivals = Sequence[datetime]
"""Of the runs, in order."""


def _read(trigger: RunTrigger, runs: Deliveries, collected: Collected) -> Arrivals:
    return [each.event.arrived for each in runs]


def _of_count(trigger: RunTrigger, count: LeafTally, path: str, collected: Collected) -> Arrivals:
    return [count.newest] * count.amount


def _since(trigger: RunTrigger, runs: Arrivals, collected: Collected) -> datetime | None:
    return runs[trigger.count - 1] if len(runs) >= trigger.count else None


def _summary(trigger: RunTrigger, runs: Arrivals, collected: Collected, now: datetime) -> str:
    return f"{len(runs)} of {trigger.count} runs of {trigger.program} {trigger.status}"


def _count(trigger: RunTrigger, runs: Arrivals, collected: Collected) -> Count:
    return Count(len(runs), trigger.count, "runs")


def _needs(trigger: RunTrigger, runs: Arrivals, collected: Collected, now: datetime) -> str:
    return f"{plural(trigger.count - len(runs), 'more run')} of {trigger.program} ({trigger.status})"


def _wanted(trigger: RunTrigger) -> int:
    return trigger.count


KIND = LeafKind(
    _since, _summary, _needs, Counting(_wanted, one, each_event), _count, read=_read, counted=_of_count
)
