"""Incremental reads, and the positions of one."""

from collections.abc import Iterator, Mapping

from tidegate.domain.commits import Watermark
from tidegate.domain.part_name import app_of
from tidegate.listings.read import Asked
from tidegate.listings.watermarks import IncrementalRead, Position
from tidegate.scheduler.store.open import commits_of
from tidegate.spark_jobs.commit.sequence import watermark_resource


def list_watermarks(asked: Asked) -> Iterator[IncrementalRead]:
    """Yield what the programs that the caller sees have read."""
    commits = commits_of(asked.source.store)
    for consumer, source in commits.followers():
        if asked.sees(app_of(consumer)) and asked.wanted.get("dataset", source) == source:
            yield IncrementalRead(
                consumer=consumer,
                source=source,
                parts=len(commits.watermarks(consumer, source)),
                moving=tuple(commits.list_unfinished(watermark_resource(consumer, source))),
            )


def positions_of(marks: Mapping[str, Watermark]) -> list[Position]:
    """Return watermarks, by part, as all faces show them."""
    return [
        Position(part=part, moves=mark.number, position=mark.position, commit=mark.commit)
        for part, mark in sorted(marks.items())
    ]
