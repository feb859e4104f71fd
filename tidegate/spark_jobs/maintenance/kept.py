"""What an expiry leaves, counted by reason: most snapshots are young, or among the last ones.

    kept_because   {"among the last 5": 5, "younger than 7d": 12, "the tag audit": 1}
    kept_oldest    {"among the last 5": "8274…", …}: the oldest snapshot that is kept for this reason

Pure.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from tidegate.domain.duration import duration_text

SHOWN_REASONS = 100
"""So many reasons are named: those of most snapshots, since a table may have thousands of tags."""


def among_the_last(retain: int) -> str:
    """Return the reason of the newest snapshots of a branch, or versions, which never expire."""
    return f"among the last {retain}"


def younger_than(seconds: float) -> str:
    """Return the reason of snapshots that were current within the last time."""
    return f"younger than {duration_text(timedelta(seconds=seconds))}"


def counted(kept: Iterable[tuple[int, str]]) -> dict[str, Any]:
    """Return what the results of an operation say of the snapshots that it leaves.

    Args:
        kept: each one with its reason, the oldest first.
    """
    numbers, oldest = Counter[str](), dict[str, int]()
    for one, why in kept:
        numbers[why] += 1
        oldest.setdefault(why, one)
    shown = dict(numbers.most_common(SHOWN_REASONS))
    # As text: a snapshot's id is larger than what JSON can say exactly everywhere.
    return {"kept_because": shown, "kept_oldest": {why: str(oldest[why]) for why in shown}}
