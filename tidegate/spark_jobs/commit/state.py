"""What has become of a commit: one answer, which a run gets from `publish.state_of`.

    new ──put──► unfinished ──finish──► published
                     └──abandon, withdraw──► abandoned ─► the work goes on as another commit, "c~2"

A withheld commit is new: it was not put, and the next attempt of its work has the same id.

`look_up` asks the store alone. Of an unfinished commit only its tables know what is published (ADR 27): who
needs the answer has to finish it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.published import PublishedPartition
from tidegate.spark_jobs.commit.sequence import decode_result

Parts = tuple[PublishedPartition, ...]

SUCCESSOR = re.compile(r"~\d{1,4}$")
"""Ends the id of each commit of a work but the first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class New:
    """A commit that was never put.

    Attributes:
        before: what abandoned commits of the same work have published, by "app/dataset".
    """

    commit: str
    before: Mapping[str, Parts] = field(default_factory=dict[str, Parts])


@dataclass(frozen=True, kw_only=True, slots=True)
class Unfinished:
    """A commit whose sequence was put; the store keeps its text until all steps are done."""

    commit: str
    body: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Published:
    """A commit whose steps are all done, with its partitions; `before` as of a new one."""

    commit: str
    parts: Parts
    before: Mapping[str, Parts] = field(default_factory=dict[str, Parts])


@dataclass(frozen=True, kw_only=True, slots=True)
class Abandoned:
    """A commit that a person or a conflict has ended, with the outputs that it had published by then."""

    commit: str
    outputs: Mapping[str, Parts]


CommitState = New | Unfinished | Published | Abandoned


def look_up(commit: str, store: CommitStepStore) -> CommitState:
    """Return what the store knows of a commit."""
    # In the order in which a commit passes through them: what goes on between two queries, the second finds.
    body = store.get(commit)
    if body is not None:
        return Unfinished(commit=commit, body=body)
    result = store.result(commit)
    if result is not None:
        return Published(commit=commit, parts=decode_result(result))
    if not store.was_abandoned(commit):
        return New(commit=commit)
    records = store.output_records(commit)
    # An output without partitions was abandoned alone: it is not published, and is written again.
    outputs = {each.dataset: decode_result(each.published) for each in records if each.published is not None}
    return Abandoned(commit=commit, outputs=outputs)


def is_put(commit: str, store: CommitStepStore) -> bool:
    """Return whether the sequence of a commit is in the store, finished or not."""
    return isinstance(look_up(commit, store), Unfinished | Published)


def is_withheld(commit: str, token: int, store: CommitStepStore) -> bool:
    """Return whether the sequence of an attempt is withheld."""
    kept = store.withheld(commit)
    return kept is not None and kept.token == token


def commits_of(commit: str) -> Iterator[str]:
    """Yield the ids under which the work of a commit may be published, one after the other.

    The tables may hold part of an abandoned commit under its id, which `verify` would mistake for the new
    publish. So the work goes on as another commit, the same for every attempt: after "c" and "c~2", "c~3".
    """
    first = SUCCESSOR.sub("", commit)
    yield first
    number = 2
    while True:
        yield f"{first}~{number}"
        number += 1


def commit_to_publish(commit: str, store: CommitStepStore) -> str:
    """Return the newest commit of a work: the one that is not abandoned."""
    every = commits_of(commit)
    return next(each for each in every if not isinstance(look_up(each, store), Abandoned))
