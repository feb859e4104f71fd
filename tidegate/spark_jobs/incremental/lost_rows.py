"""Watermarks whose rows are gone: an output is older than the watermark, or is another table.

A watermark moves one step after the rows. A rollback, a table restored from a backup, a lost version file, a
dropped, emptied or renamed table takes the rows back and leaves the watermark: the next run would go on after
them, and they would never be read again. So the commit that has moved a watermark last must be found in the
outputs, or be older than all that a table lists:

    listed, and its snapshot is kept ....................... its rows are there
    not listed, by a table that lists all its publishes .... gone
    not listed, by one that forgets old publishes .......... there, if most of the listed ones began later
    the table has no rows at all ........................... gone
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median_low
from typing import TYPE_CHECKING

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import Watermark
from tidegate.domain.published import PublishedPartition
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.sequence import decode_result
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.datasets.table_report import not_listed
from tidegate.spark_jobs.errors import TableBehind
from tidegate.spark_jobs.publication.formats import format_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHOWN_CHARACTERS = 100
"""A position may list thousands of files; its beginning identifies it."""
EMPTY = "{} has no rows any more"
NEW_TABLE = "they are in {}, and {} has never been published into: it would begin with what lands from now on"


class LostRows(Value, kw_only=True):
    """A watermark whose rows are gone.

    Attributes:
        consumer, source, part: whose it is.
        position: where it is.
        what: what has happened to the rows.
    """

    consumer: str
    source: str
    part: str
    position: str
    what: str

    @property
    def where(self) -> str:
        """The watermark, for people."""
        return f"{self.consumer} in {self.source} {self.part}".strip()

    @property
    def fact(self) -> str:
        """What is wrong, for people."""
        shown = self.position[:SHOWN_CHARACTERS] + ("…" if len(self.position) > SHOWN_CHARACTERS else "")
        return f"it is at {shown}, but the rows read up to there are gone: {self.what}"

    @property
    def remedy(self) -> str:
        """What to do, for people."""
        return (
            "restore that state of the table (if it was renamed, deploy it with `renamed_from`), or read "
            f"these rows again after: tidegate watermarks reset {self.consumer} {self.source}; to go on "
            "without them, reset it --to the position that it has"
        )


def refuse_lost_rows(
    store: CommitStepStore,
    warehouse: Warehouse,
    spark: "Callable[[], SparkSession]",
    *,
    consumer: str,
    sources: Iterable[str],
    outputs: Sequence[DatasetRef],
) -> None:
    """Refuse a run that would move watermarks whose rows are gone.

    Raises:
        TableBehind: the outputs lack rows that the watermarks have passed.
    """
    for one in lost_rows(store, warehouse, spark, consumer=consumer, sources=sources, outputs=outputs):
        raise TableBehind(f"the watermark of {one.where}: {one.fact}", one.remedy)


def lost_rows(
    store: CommitStepStore,
    warehouse: Warehouse,
    spark: "Callable[[], SparkSession]",
    *,
    consumer: str,
    sources: Iterable[str],
    outputs: Sequence[DatasetRef],
) -> tuple[LostRows, ...]:
    """Return the watermarks of a program whose rows are gone.

    Args:
        consumer: "app/program".
        sources: what it reads incrementally, as "app/dataset".
        outputs: what it writes.
    """
    marks = {source: store.watermarks(consumer, source) for source in sources}
    commits = _movers(marks)
    if not commits or not outputs:
        return ()
    published = {commit: decode_result(store.result(commit) or "[]") for commit in sorted(commits)}
    gone: dict[str, str] = {}
    never: list[DatasetRef] = []
    elsewhere = {commit: parts for commit, parts in published.items() if any(part.rows for part in parts)}
    for ref in outputs:
        of_ref = [commit for commit, parts in elsewhere.items() if _has_rows(parts, ref.name)]
        listed = format_of(ref).commits(ref, warehouse, spark)
        if of_ref:
            gone |= _gone(ref, of_ref, listed, store, warehouse, spark)
        elif not listed:
            never.append(ref)
    named = {ref.name for ref in outputs}
    for ref in never:
        for commit, parts in elsewhere.items():
            if not any(part.dataset in named for part in parts):
                gone[commit] = NEW_TABLE.format(", ".join(sorted({part.dataset for part in parts})), ref.id)
    return tuple(
        LostRows(consumer=consumer, source=source, part=part, position=mark.position, what=gone[mark.commit])
        for source, parts in marks.items()
        for part, mark in sorted(parts.items())
        if mark.commit in gone
    )


def _movers(marks: Mapping[str, Mapping[str, Watermark]]) -> set[str]:
    return {mark.commit for parts in marks.values() for mark in parts.values()}


def _has_rows(parts: Sequence[PublishedPartition], dataset: str) -> bool:
    return any(part.dataset == dataset and part.rows for part in parts)


def _gone(
    ref: DatasetRef,
    commits: Sequence[str],
    listed: Sequence[str],
    store: CommitStepStore,
    warehouse: Warehouse,
    spark: "Callable[[], SparkSession]",
) -> dict[str, str]:
    """Return those of some commits whose rows the output has no more, with what has happened."""
    format = format_of(ref)
    gone = dict(format.withdrawn(ref, warehouse, commits, spark))
    open_ones = [commit for commit in commits if commit not in gone]
    forgotten = [commit for commit in open_ones if commit not in listed]
    if forgotten:
        tokens = store.tokens([*forgotten, *listed])
        began = median_low([tokens[one] for one in listed if one in tokens] or [0])
        # The newest of them cannot be proved by the table, so the order of the runs does.
        gone |= {one: not_listed(ref.id, one) for one in forgotten if tokens.get(one, 0) > began}
    if len(gone) < len(commits) and format.is_empty(ref, warehouse, spark):
        gone |= {one: EMPTY.format(ref.id) for one in open_ones}
    return gone
