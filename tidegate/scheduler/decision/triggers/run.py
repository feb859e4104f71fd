"""`run`: satisfied when enough runs of a program have started or ended as asked."""

from datetime import datetime

from tidegate.domain.model import RunTrigger
from tidegate.domain.wording import plural
from tidegate.scheduler.decision.triggers.collected import Collected
from tidegate.scheduler.decision.triggers.leaf import Counting, Deliveries, LeafKind, each_event, one
from tidegate.scheduler.model.verdict import Count


def _since(trigger: RunTrigger, runs: Deliveries, collected: Collected) -> datetime | None:
    return runs[trigger.count - 1].event.arrived if len(runs) >= trigger.count else None


def _summary(trigger: RunTrigger, runs: Deliveries, collected: Collected, now: datetime) -> str:
    return f"{len(runs)} of {trigger.count} runs of {trigger.program} {trigger.status}"


def _count(trigger: RunTrigger, runs: Deliveries, collected: Collected) -> Count:
    return Count(len(runs), trigger.count, "runs")


def _needs(trigger: RunTrigger, runs: Deliveries, collected: Collected, now: datetime) -> str:
    return f"{plural(trigger.count - len(runs), 'more run')} of {trigger.program} ({trigger.status})"


def _wanted(trigger: RunTrigger) -> int:
    return trigger.count


KIND = LeafKind(_since, _summary, _needs, Counting(_wanted, one, each_event), _count)
