"""Judges staged rows by the checks of their dataset: one aggregation, and one grouping for each `unique`.

    rows, change ──► from what staging has counted
    not_null, values, range, matches, the spread of numbers ──► what the files' metadata proves (`proven`),
        ──► and one aggregation over the staged files for the rest
    unique ──► one grouping for each set of columns
    reference, sql, run ──► one query each
    a check that has failed ──► once more, for the keys of up to five bad rows

The rows are read from the staged files, so the program's plan does not run again, and what is judged is what
would be published. All checks of all outputs are judged, also after one that has failed.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from typing import NamedTuple, Protocol, cast

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import BinaryType, StringType, StructField, StructType

from tidegate.domain.commits import SAMPLES, CheckVerdict
from tidegate.domain.model import (
    ChangeCheck,
    Check,
    ReferenceCheck,
    RowsCheck,
    RunCheck,
    SqlCheck,
    UniqueCheck,
)
from tidegate.domain.model.check import LEAST_KNOWN
from tidegate.domain.published import PublishedPartition
from tidegate.domain.wording import first_of, plural
from tidegate.spark_jobs.checks.compared import (
    NOTHING_BESIDE,
    Beside,
    change_of,
    far_from,
    medians_before,
    refuse_reference,
    rows_without_target,
)
from tidegate.spark_jobs.checks.conditions import any_of, column_of, condition
from tidegate.spark_jobs.checks.distinct_numbers import Spread, are_distinct_numbers, numbers_of
from tidegate.spark_jobs.checks.proven import prove
from tidegate.spark_jobs.checks.written import look_at, refuse_written
from tidegate.spark_jobs.datasets.column_names import spelling
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef

MAX_SAMPLE_CHARACTERS = 200
"""A longer value of a key is cut."""
LOOKED_AT = 50
"""The first bad rows, by their keys, of which those with different keys are samples."""
MAX_SAMPLE_COLUMNS = 8
"""The most columns of which a sample has the value."""
GROUP_SIZE = "__tidegate_group_size"


class Finding(NamedTuple):
    """What a check has found: bad rows or partitions, and some of them."""

    bad: int = 0
    found: str = ""
    partitions: tuple[str, ...] = ()
    samples: tuple[dict[str, str | None], ...] = ()


class Staged(Protocol):
    """A staged output; see `publication.table_format.StagedOutput`."""

    @property
    def ref(self) -> DatasetRef: ...

    def result(self) -> tuple[PublishedPartition, ...]: ...

    def files(self, spark: SparkSession) -> tuple[str, ...]: ...

    def rows(self, spark: SparkSession) -> AbstractContextManager[DataFrame]: ...


def refuse_unjudged(
    spark: SparkSession, ref: DatasetRef, columns: StructType, beside: Beside = NOTHING_BESIDE
) -> None:
    """Refuse an output whose columns show that one of its checks cannot be judged.

    Args:
        columns: of the program's output; partition columns that it lacks are added when it is staged.

    Raises:
        NotJudged: a check has a column that there is not, or that it cannot compare, or it cannot be run.
    """
    dimensions = ref.dimensions()
    own = [field for field in columns.fields if spelling(field.name, dimensions) is None]
    staged = StructType([*own, *(StructField(name, StringType()) for name in dimensions)])
    for check in ref.checks:
        condition(spark, ref, check, staged)
        if isinstance(check, ReferenceCheck):
            refuse_reference(spark, ref, check, staged, beside)
        elif isinstance(check, SqlCheck | RunCheck):
            refuse_written(spark, ref, check, staged, beside)


def judge_staged(
    outputs: Sequence[Staged], start: Callable[[], SparkSession], beside: Beside = NOTHING_BESIDE
) -> tuple[CheckVerdict, ...]:
    """Judge all outputs of a run, and return the verdicts of all their checks.

    Args:
        start: returns the session, or starts it; not called where no check needs the rows.
        beside: what the rows are compared with.

    Raises:
        NotJudged: a check cannot be judged.
    """
    return tuple(verdict for output in outputs for verdict in _judge_output(output, start, beside))


def _judge_output(
    output: Staged, start: Callable[[], SparkSession], beside: Beside
) -> tuple[CheckVerdict, ...]:
    if not output.ref.checks:
        return ()
    counts = {part.key: part.rows for part in output.result()}
    with ExitStack() as opened:
        return judge(
            output.ref, counts, lambda: opened.enter_context(output.rows(start())), beside, output.files
        )


def judge(
    ref: DatasetRef,
    counts: Mapping[str, int],
    rows: Callable[[], DataFrame],
    beside: Beside = NOTHING_BESIDE,
    files: Callable[[SparkSession], Sequence[str]] = lambda spark: (),
) -> tuple[CheckVerdict, ...]:
    """Judge the staged rows of one output, and return a verdict of each check of its dataset in their order.

    Args:
        counts: the number of rows of each partition that the run writes; one without rows has 0.
        rows: returns the staged rows; not called where no check needs them.
        files: returns all Parquet files of the rows; none where they are not known.

    Raises:
        NotJudged: a check cannot be judged.
    """
    total = sum(counts.values())
    needs_rows = total > 0 and any(not isinstance(check, RowsCheck | ChangeCheck) for check in ref.checks)
    found = _of_rows(ref, total, rows(), beside, files) if needs_rows else {}
    for check in ref.checks:
        if isinstance(check, RowsCheck):
            found[check.name] = _of_counts(check, counts)
        elif isinstance(check, ChangeCheck):
            found[check.name] = _of_changes(ref, check, counts, beside) if total else _not_counted(check)
    return tuple(_verdict(ref, check, total, found.get(check.name, Finding())) for check in ref.checks)


def _verdict(ref: DatasetRef, check: Check, total: int, finding: Finding) -> CheckVerdict:
    return CheckVerdict(
        dataset=ref.id,
        name=check.name,
        kind=check.kind,
        severity=check.severity,
        passed=finding.bad == 0,
        found=finding.found or f"{plural(total, 'row')}: {check.rule()}",
        rows=total,
        bad=finding.bad,
        partitions=finding.partitions,
        samples=finding.samples,
    )


def _of_counts(check: RowsCheck, counts: Mapping[str, int]) -> Finding:
    least, most = check.min or 0, check.max
    bad = {key: rows for key, rows in counts.items() if rows < least or (most is not None and rows > most)}
    if not bad:
        return Finding()
    listed = [f"{key}: {plural(rows, 'row')}" if key else plural(rows, "row") for key, rows in bad.items()]
    return Finding(
        bad=len(bad),
        found=f"{first_of(listed, SAMPLES)}, {check.rule()}",
        partitions=tuple(key for key in bad if key)[:SAMPLES],
    )


def _of_changes(ref: DatasetRef, check: ChangeCheck, counts: Mapping[str, int], beside: Beside) -> Finding:
    before = medians_before(ref, check, [*counts], beside)
    bad = {key: counts[key] for key in before if far_from(check, counts[key], before[key])}
    if bad:
        listed = [
            f"{key}: {change_of(rows, before[key])}" if key else change_of(rows, before[key])
            for key, rows in bad.items()
        ]
        return Finding(
            bad=len(bad),
            found=f"{first_of(listed, SAMPLES)}, {check.rule()}",
            partitions=tuple(key for key in bad if key)[:SAMPLES],
        )
    new = len(counts) - len(before)
    return Finding(found=f"{check.rule()}; {_not_compared(ref, new)}" if new else "")


def _not_counted(check: ChangeCheck) -> Finding:
    # A frame without any row fails `rows: {min}` alone.
    return Finding(found=f"{check.rule()}; not compared: there are no rows")


def _not_compared(ref: DatasetRef, partitions: int) -> str:
    if ref.scheme is None:
        return f"not compared: fewer than {LEAST_KNOWN} publishes before it are known"
    of = plural(partitions, "partition")
    return f"{of} not compared: fewer than {LEAST_KNOWN} before it are known"


def _of_rows(
    ref: DatasetRef,
    total: int,
    rows: DataFrame,
    beside: Beside,
    files: Callable[[SparkSession], Sequence[str]],
) -> dict[str, Finding]:
    """Return what the checks that need the rows have found, by name."""
    spark, columns = rows.sparkSession, rows.schema
    conditions = [(check, condition(spark, ref, check, columns)) for check in ref.checks]
    found: dict[str, Finding] = {}
    scalar = [(check, when) for check, when in conditions if when is not None]
    numbers = numbers_of(ref, total, columns)
    proof = prove(spark, files(spark), columns, total, scalar, numbers)
    scalar = [(check, when) for check, when in scalar if check.name not in proof.passed]
    unknown = {name: number for name, number in numbers.items() if name not in proof.spreads}
    counted, spreads = _counted(rows, [when for _, when in scalar], unknown)
    spreads |= proof.spreads
    for (check, when), bad in zip(scalar, counted, strict=True):
        if bad:
            samples = _samples(rows.where(when), _key_columns(ref, check, columns), columns)
            found[check.name] = _bad_rows(check, total, bad, samples)
    grouped: dict[tuple[str, ...], Finding] = {}
    for check in ref.checks:
        if isinstance(check, UniqueCheck):
            names = tuple(sorted(name.lower() for name in check.columns))
            if names not in grouped:
                grouped[names] = _repeated(
                    check, total, rows, spreads.get(names[0]) if len(names) == 1 else None
                )
            found[check.name] = grouped[names]
        elif isinstance(check, ReferenceCheck):
            bad_rows = rows_without_target(rows, ref, check, beside)
            found[check.name] = _counted_rows(check, total, bad_rows, _key_columns(ref, check, columns))
        elif isinstance(check, SqlCheck | RunCheck):
            take = partial(_returned, check, total)
            found[check.name] = look_at(ref, check, rows, beside, take) or Finding()
    return found


def _counted_rows(check: Check, total: int, bad: DataFrame, names: Sequence[str]) -> Finding:
    """Return bad rows that are a frame of their own."""
    number = bad.count()
    if not number:
        return Finding()
    return _bad_rows(check, total, number, _samples(bad, names, bad.schema) if names else ())


def _returned(check: SqlCheck | RunCheck, total: int, bad: DataFrame) -> Finding:
    """Return the bad rows that a query or a function has found, whatever columns they have."""
    lower = [name.lower() for name in bad.columns]
    return _counted_rows(check, total, bad, [name for name in bad.columns if lower.count(name.lower()) == 1])


def _counted(
    rows: DataFrame, conditions: Sequence[Column], numbers: Mapping[str, Column]
) -> tuple[list[int], dict[str, Spread]]:
    """Return for each condition how many rows meet it, and the spread of numbers, by one aggregation."""
    counts = [sf.count_if(when).alias(f"c{at}") for at, when in enumerate(conditions)]
    spreads = [
        agg(number).alias(f"{agg.__name__}{at}")
        for at, number in enumerate(numbers.values())
        for agg in (sf.min, sf.max, sf.count)
    ]
    if not counts and not spreads:
        return [], {}
    found = [*cast(Row, rows.agg(*counts, *spreads).first())]
    first, width = len(counts), len(Spread._fields)
    starts = range(first, len(found), width)
    return [int(count) for count in found[:first]], {
        name: Spread(*found[at : at + width]) for name, at in zip(numbers, starts, strict=True)
    }


def _bad_rows(check: Check, total: int, bad: int, samples: tuple[dict[str, str | None], ...]) -> Finding:
    # What a query returns need not be rows of the output.
    of = "" if isinstance(check, SqlCheck | RunCheck) else f"{bad} of "
    found = f"{of}{plural(bad if not of else total, 'row')}: {check.broken()}"
    return Finding(bad=bad, found=found, samples=samples)


def _repeated(check: UniqueCheck, total: int, rows: DataFrame, spread: Spread | None) -> Finding:
    """Return the rows of groups that have more than one, in the columns of the check."""
    columns = [column_of(name, rows.schema) for name in check.columns]
    known = rows.where(~any_of(column.isNull() for column in columns)).select(*columns)
    if spread is not None and are_distinct_numbers(known, spread):
        return Finding()
    groups = known.groupBy(*columns).agg(sf.count("*").alias(GROUP_SIZE)).where(f"{GROUP_SIZE} > 1")
    bad = cast(Row, groups.agg(sf.coalesce(sf.sum(GROUP_SIZE), sf.lit(0))).first())[0]
    if not bad:
        return Finding()
    names = tuple(spelling(name, rows.columns) or name for name in check.columns)
    return _bad_rows(check, total, int(bad), _samples(groups, names, rows.schema))


def _key_columns(ref: DatasetRef, check: Check, columns: StructType) -> tuple[str, ...]:
    """Return what identifies a bad row for people: its partition, its merge keys, and what is judged."""
    wanted = (*ref.dimensions(), *ref.merge_keys, *check.columns_read)
    spelled = (spelling(name, columns.fieldNames()) for name in wanted)
    return tuple(dict.fromkeys(name for name in spelled if name is not None))


def _samples(bad: DataFrame, names: Sequence[str], columns: StructType) -> tuple[dict[str, str | None], ...]:
    """Return the keys of some bad rows as texts, the same ones whenever the rows are the same."""
    shown = names[:MAX_SAMPLE_COLUMNS]
    texts = [_text(name, columns).alias(f"c{at}") for at, name in enumerate(shown)]
    order = [f"c{at}" for at in range(len(shown))]
    # Spark keeps only the first rows of each task. Making all keys distinct would move every bad row.
    rows = dict.fromkeys(tuple(row) for row in bad.select(*texts).orderBy(*order).limit(LOOKED_AT).collect())
    return tuple(dict(zip(shown, row, strict=True)) for row in [*rows][:SAMPLES])


def _text(name: str, columns: StructType) -> Column:
    column = column_of(name, columns)
    text = sf.hex(column) if isinstance(columns[name].dataType, BinaryType) else column.cast("string")
    return sf.substring(text, 1, MAX_SAMPLE_CHARACTERS)
