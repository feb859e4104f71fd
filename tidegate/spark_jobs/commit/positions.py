"""Watermarks as rows, for lists: who reads what incrementally, and how far."""

from collections.abc import Mapping
from typing import Any

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import Watermark
from tidegate.domain.error import UserError
from tidegate.domain.suggest import did_you_mean
from tidegate.spark_jobs.commit.sequence import watermark_resource


def incremental_read(commits: CommitStepStore, consumer: str, source: str) -> dict[str, Any]:
    """Return the row of an incremental read.

    Args:
        consumer: "app/program".
        source: "app/dataset".
    """
    return {
        "consumer": consumer,
        "source": source,
        "parts": len(commits.watermarks(consumer, source)),
        "moving": list(commits.list_unfinished(watermark_resource(consumer, source))),
    }


def known_watermarks(commits: CommitStepStore, consumer: str, source: str) -> Mapping[str, Watermark]:
    """Return the watermarks of a program in a dataset, by part, sorted.

    Raises:
        UserError: the program has no watermark in the dataset.
    """
    marks = commits.watermarks(consumer, source)
    if not marks:
        known = [" ".join(pair) for pair in commits.followers()]
        hint = did_you_mean(f"{consumer} {source}", known, "watermarks")
        raise UserError(f"{consumer} has no watermark in {source}", hint)
    return dict(sorted(marks.items()))


def position_row(part: str, mark: Watermark) -> dict[str, Any]:
    """Return the row of a part: its position, how often it has moved, and the commit that moved it last."""
    return {"part": part, "moves": mark.number, "position": mark.position, "commit": mark.commit}
