"""What the demo prints: one line for each decision while it runs, and at its end the summary.

The lines are read from the scheduler's journal. The summary has the runs in order with their reasons, the
waits, the report and the ledger, all from the store and the published tables.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from tidegate.cli.item_table import print_items
from tidegate.cli.printing import print_table
from tidegate.demo.run import Demo
from tidegate.domain.part_name import name_of
from tidegate.listings.ledger import LEDGER
from tidegate.listings.queries.ledger import public_balance
from tidegate.project.settings.settings import Settings
from tidegate.scheduler.launch.outbox import launch_reason
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.maintenance import OperationRun
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.sql.open import open_sql_store

SHOWN = frozenset({EntryKind.WAITING, EntryKind.LAUNCH, EntryKind.RUN, EntryKind.DISCARDED, EntryKind.MANUAL})


class Progress:
    """A printer of the journal's new entries, called at every poll."""

    def __init__(self, started: datetime, echo: Callable[[str], None]) -> None:
        self._started = started
        self._echo = echo
        self._printed = 0
        self._keys: dict[str, str] = {}

    def __call__(self, demo: Demo) -> None:
        with demo.store.reading() as reader:
            entries = reader.journal()
            self._keys = {job.id: job.key for job in reader.jobs()}
        for entry in entries[self._printed :]:
            line = self.line(entry)
            if line is not None:
                self._echo(line)
        self._printed = len(entries)

    def line(self, entry: Entry) -> str | None:
        """Return the line of an entry; None if it is not shown."""
        if entry.kind not in SHOWN or entry.schedule is None:
            return None
        if entry.kind is EntryKind.WAITING and (entry.reason or "").startswith("M-"):
            # Each table waits for the night: not of interest here.
            return None
        elapsed = (entry.at - self._started).total_seconds()
        key = self._keys.get(entry.job or "", "")
        name = name_of(entry.schedule) + (f" {key}" if key else "")
        what = _what(entry)
        return None if what is None else f"[{elapsed:5.0f} s] {name:<40} {what}"


def _what(entry: Entry) -> str | None:
    match entry.kind:
        case EntryKind.WAITING if entry.reason is not None:
            return f"waits: {entry.reason} {Reason(entry.reason).summary}"
        case EntryKind.LAUNCH:
            partitions = entry.data["partitions"]
            return "launched" + (f" for {', '.join(partitions)}" if partitions else "")
        case EntryKind.RUN if entry.data["status"] in ("succeeded", "failed", "cancelled"):
            return f"run {entry.data['status']}"
        case EntryKind.DISCARDED:
            return f"discarded: {entry.reason}"
        case EntryKind.MANUAL:
            return "triggered by hand, as if its time had come"
        case _:
            return None


REPORT_ROWS_SHOWN = 5
APP, REPORT = "flights", "carrier_report"
MEASURES_SHOWN = ("files", "small_files", "total_size", "manifests", "snapshots")
REPORT_COLUMNS = ("carrier", "name", "days", "flights", "late_share", "mean_dep_delay")


def print_summary(
    reader: EngineReader, settings: Settings, started: datetime, echo: Callable[[str], None]
) -> None:
    """Print the whole summary."""
    jobs = [job for job in reader.jobs() if job.launched_at is not None]
    echo("\nRuns, in order, with their reasons")
    print_table(
        ("at", "schedule", "key", "state", "because of"),
        [
            (
                _elapsed(job.launched_at, started),
                name_of(job.schedule),
                job.key,
                job.state,
                launch_reason(job.launch, job.instance, job.maintenance) if job.launch is not None else "",
            )
            for job in sorted(jobs, key=lambda job: str(job.launched_at))
        ],
    )
    echo("\nWaits, with their reasons")
    print_table(
        ("schedule", "reason", "meaning", "waits", "longest"), _waits(reader), right=("waits", "longest")
    )
    echo("\nThe first rows of carrier_report")
    print_table(REPORT_COLUMNS, _report(settings))
    echo("\nIncremental reads: moves = parts if every file was loaded once")
    print_table(("program", "source", "parts", "moves"), _incremental(settings), right=("parts", "moves"))
    echo("\nThe ledger: landed = succeeded + running + failed + pending + discarded")
    print_items(LEDGER, [public_balance(row) for row in reader.ledger()], reader, datetime.now(UTC))


def print_compaction(run: OperationRun, echo: Callable[[str], None]) -> None:
    """Print a table before and after its maintenance, as far as it could be measured."""
    echo(f"\n{run.table} before and after {run.operation}, which ended as {run.ending}")
    print_table(
        ("measure", "before", "after"),
        [
            (name, f"{run.before[name]:,.0f}", f"{run.after[name]:,.0f}")
            for name in MEASURES_SHOWN
            if name in run.before and name in run.after
        ],
        right=("before", "after"),
    )


def waits(entries: Sequence[Entry]) -> Mapping[tuple[str, str], list[float]]:
    """Return the durations of the waits: (schedule, reason) -> seconds of each wait.

    A wait lasts from its journal entry to the job's next decision.
    """
    found: dict[tuple[str, str], list[float]] = {}
    open_waits: dict[str, Entry] = {}
    ends = (EntryKind.WAITING, EntryKind.LAUNCH, EntryKind.DISCARDED)
    for entry in entries:
        if entry.job is None or entry.schedule is None or entry.kind not in ends:
            continue
        before = open_waits.pop(entry.job, None)
        if before is not None and before.schedule is not None and before.reason is not None:
            seconds = (entry.at - before.at).total_seconds()
            found.setdefault((before.schedule, before.reason), []).append(seconds)
        if entry.kind is EntryKind.WAITING:
            open_waits[entry.job] = entry
    return found


def _waits(reader: EngineReader) -> list[tuple[str, ...]]:
    return [
        (
            name_of(schedule),
            reason,
            Reason(reason).summary,
            str(len(lasted)),
            f"{max(lasted):.0f} s",
        )
        for (schedule, reason), lasted in sorted(waits(reader.journal()).items())
    ]


def _report(settings: Settings) -> list[tuple[str, ...]]:
    """Return the carriers with most flights, from the published table, read without a JVM."""
    from pyiceberg.table import StaticTable

    table = StaticTable.from_metadata(f"{settings.warehouse}/{APP}/{REPORT}")
    rows = table.scan(selected_fields=REPORT_COLUMNS).to_arrow().sort_by([("flights", "descending")])
    return [
        tuple(map(_cell, row.values()))
        for row in rows.select(REPORT_COLUMNS).slice(0, REPORT_ROWS_SHOWN).to_pylist()
    ]


def _incremental(settings: Settings) -> list[tuple[str, ...]]:
    """Return the incremental reads with their numbers of parts and watermark moves."""
    store = open_sql_store(settings.store_url)
    try:
        commits = SqlCommitStepStore(store.engine)
        rows: list[tuple[str, ...]] = []
        for consumer, source in commits.followers():
            marks = commits.watermarks(consumer, source).values()
            rows.append((consumer, source, str(len(marks)), str(sum(mark.number for mark in marks))))
        return rows
    finally:
        store.close()


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _elapsed(instant: datetime | None, started: datetime) -> str:
    return "" if instant is None else f"{(instant - started).total_seconds():.0f} s"
