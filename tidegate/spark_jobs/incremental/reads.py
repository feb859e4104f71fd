"""The incremental reads of one run: the new rows of each source, and the watermarks to set with them.

    watermarks ─► read ─► the program ─► stage ─► check ─► publish with watermark steps and facts

The watermarks are read before the source and set by the sequence that publishes
the outputs, which the store accepts only if they are unchanged since. So despite crashes
and concurrent runs, each row is passed to a program in exactly one commit. The table's format determines
its new rows; `offsets.py` reads user-defined sources.
"""

import hashlib
from collections.abc import Mapping, Sequence

import msgspec
from pyspark.sql import DataFrame, SparkSession

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import Watermark
from tidegate.domain.part_name import app_of, name_in
from tidegate.spark_jobs.commit.sequence import watermark_resource
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.datasets.increment import Increment, IncrementalRead
from tidegate.spark_jobs.datasets.key_selection import KeySelection
from tidegate.spark_jobs.incremental.offsets import read_new_offsets
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.publication.formats import format_of

MAX_FACT_CHARACTERS = 4_000
"""A snapshot's summary is copied into every later metadata file of its table, so it stays short."""
DIGEST_DIGITS = 16


class IncrementalReads:
    """The incremental inputs of one run.

    Args:
        consumer: "app/program".
        sources: the datasets that it reads incrementally.
    """

    def __init__(
        self,
        store: CommitStepStore,
        warehouse: Warehouse,
        *,
        consumer: str,
        params: Params,
        sources: Sequence[str] = (),
    ) -> None:
        self.consumer, self.sources = consumer, tuple(sources)
        self._store = store
        self._warehouse = warehouse
        self._params = params
        self._marks: dict[str, Mapping[str, Watermark]] = {}
        self._read: dict[str, Increment] = {}

    def read(
        self, spark: SparkSession, ref: DatasetRef, how: bool | str, selection: KeySelection
    ) -> DataFrame | None:
        """Return the new rows of a dataset; None while its columns are unknown.

        Args:
            how: True to use the table's format, else the dotted path of a user-defined source.

        Raises:
            SourceError: the new rows cannot be determined.
        """
        marks = self._store.watermarks(self.consumer, ref.id)
        request = IncrementalRead(
            consumer=self.consumer,
            ref=ref,
            warehouse=self._warehouse,
            params=self._params,
            positions={part: mark.position for part, mark in marks.items() if mark.position},
            reset=frozenset(part for part, mark in marks.items() if not mark.position),
            selects=lambda key: selection.selects(ref.scheme, key),
            selects_all=selection.selects_all(ref.scheme),
            reported=self._params.manifest.get(name_in(app_of(self.consumer), ref.id), ()),
        )
        self._marks[ref.id] = marks
        self._read[ref.id] = _increment(spark, request, how)
        return self._read[ref.id].frame

    def resource(self, ref: DatasetRef) -> str:
        """Return the name under which sequences list this consumer's watermarks in a dataset."""
        return watermark_resource(self.consumer, ref.id)

    def check(self) -> None:
        """Raise SourceError when a source has changed during the run, so that nothing may be published."""
        for increment in self._read.values():
            increment.check()

    def steps(self, commit: str) -> tuple[SetWatermark, ...]:
        """Return the steps that set the watermarks to the positions that were read."""
        return tuple(
            SetWatermark(
                consumer=self.consumer,
                source=source,
                part=part,
                number=(self._marks[source][part].number if part in self._marks[source] else 0) + 1,
                position=position,
                commit=commit,
            )
            for source, increment in self._read.items()
            for part, position in sorted(increment.positions.items())
            if part not in self._marks[source] or self._marks[source][part].position != position
        )

    def facts(self) -> dict[str, str]:
        """Return the positions as an entry of the table's own history; long ones as digests."""
        if not self._read:
            return {}
        whole = {source: dict(increment.positions) for source, increment in self._read.items()}
        text = _json(whole)
        if len(text) > MAX_FACT_CHARACTERS:
            text = _json({source: f"{len(parts)} parts, {_digest(parts)}" for source, parts in whole.items()})
        return {"tidegate.watermarks": text}


def manifest_facts(params: Params) -> dict[str, str]:
    """Return a digest of the run's manifest as an entry of the table's own history."""
    return {"tidegate.manifest": _digest({name: sorted(keys) for name, keys in params.manifest.items()})}


def _increment(spark: SparkSession, request: IncrementalRead, how: bool | str) -> Increment:
    if isinstance(how, str):
        return read_new_offsets(spark, request, how)
    return format_of(request.ref).read_new(spark, request)


def _json(value: object) -> str:
    return msgspec.json.encode(value, order="sorted").decode()


def _digest(value: object) -> str:
    return hashlib.sha256(_json(value).encode()).hexdigest()[:DIGEST_DIGITS]
