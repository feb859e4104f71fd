"""Whether a trigger can hold with what a job has collected, decided apart from the engine.

For `holds` the engine may be stricter (`quiet`, `sequence`, the order of arrival), never more generous: what
does not hold by these sums must not have been called satisfied. A `wait_at_most` lets its trigger
hold with anything, so it ends the question.
"""

from collections import Counter
from datetime import datetime
from typing import Any

from tests.simulation.oracle.launch import duration

Collected = list[tuple[str, dict[str, Any]]]
"""Leaf and facts of every event that a job has."""


def holds(trigger: dict[str, Any], path: str, events: Collected) -> bool:
    """Whether the sums allow this trigger to hold.

    Args:
        trigger: as plain JSON.
        path: its place in the tree, as the events name it.
    """
    below = [facts for leaf, facts in events if leaf == path or path == "" or leaf.startswith(f"{path}.")]
    if trigger["wait_at_most"] is not None and events:
        return True
    members = trigger.get("of")
    if members is not None:
        paths = [f"{path}.{index}" if path else str(index) for index in range(len(members))]
        met = sum(holds(member, place, events) for member, place in zip(members, paths, strict=True))
        return met >= _needed(trigger, len(members))
    match trigger["kind"]:
        case "partitions":
            return _partitions(trigger, [facts["partition"] for facts in below])
        case "size":
            return _size(trigger, below)
        case "run":
            return len(below) >= trigger["count"]
        case _:
            return bool(below)


def over_from_first(timeout: dict[str, Any], events: Collected, at: datetime) -> bool:
    """Whether a timeout that runs what there is has ended, counted from the first event."""
    first = min((datetime.fromisoformat(facts["arrived"]) for _, facts in events), default=at)
    runs = (timeout["then"], timeout["from"]) == ("run", "first_event")
    return runs and at >= first + duration(timeout["after"])


def must_hold(trigger: dict[str, Any], path: str, events: Collected, now: datetime) -> bool:
    """Whether these sums suffice beyond doubt: nothing that the engine may weigh otherwise is in the way."""
    if any(trigger[option] is not None for option in ("quiet", "collect_within")):
        return False
    below = [facts for leaf, facts in events if leaf == path or path == "" or leaf.startswith(f"{path}.")]
    arrivals = [datetime.fromisoformat(facts["arrived"]) for facts in below]
    waits = trigger["wait_at_most"]
    if path == "" and waits is not None and arrivals and min(arrivals) + duration(waits) <= now:
        return True
    members = trigger.get("of")
    if members is not None:
        paths = [f"{path}.{index}" if path else str(index) for index in range(len(members))]
        met = sum(must_hold(member, place, events, now) for member, place in zip(members, paths, strict=True))
        return trigger["kind"] != "sequence" and met >= _needed(trigger, len(members))
    match trigger["kind"]:
        case "partitions":
            return trigger["complete"] is None and _partitions(
                trigger, [facts["partition"] for facts in below]
            )
        case "size":
            return not trigger["distinct"] and _size(trigger, below)
        case _:
            return len(below) >= trigger.get("count", 1)


def _needed(trigger: dict[str, Any], members: int) -> int:
    match trigger["kind"]:
        case "any":
            return 1
        case "at_least":
            return trigger["n"]
        case _:
            return members


def _partitions(trigger: dict[str, Any], keys: list[str]) -> bool:
    if trigger["keys"]:
        return set(trigger["keys"]) <= set(keys)
    if trigger["complete"] is not None:
        return _complete(trigger, keys)
    return (len(set(keys)) if trigger["distinct"] else len(keys)) >= trigger["count"]


def _complete(trigger: dict[str, Any], keys: list[str]) -> bool:
    """Enough distinct keys of one period; which ones is left to the engine's own tests."""
    dataset = trigger["dataset"]
    days = 1 if trigger["complete"] == "day" else 7
    parts = {"hourly": 23, "chunks": 2}.get(dataset, 1)
    return bool(keys) and len(set(keys)) >= days * parts - (1 if dataset == "hourly" and days == 7 else 0)


def _size(trigger: dict[str, Any], events: list[dict[str, Any]]) -> bool:
    """Each key counts at most its largest size where keys are distinct, and every event elsewhere."""
    unit = "bytes" if trigger["bytes"] is not None else "rows"
    sizes: Counter[str] = Counter()
    for facts in events:
        key, size = facts.get("partition") or "", facts.get(unit) or 0
        if trigger["distinct"] and key:
            sizes[key] = max(sizes[key], size)
        else:
            sizes[key] += size
    return sizes.total() >= trigger[unit]
