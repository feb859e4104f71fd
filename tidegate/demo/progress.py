"""The demo's progress: one line for each decision, read from the scheduler's journal."""

from collections.abc import Callable
from datetime import datetime

from tidegate.demo.run import Demo
from tidegate.domain.part_name import name_of
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason

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
