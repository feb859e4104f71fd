"""A reader that looks at tables again and again while they are written, in a process of its own.

It opens one state after the other, as any reader may at any time, and remembers which it has seen.
What it may have seen is judged when all is over, since only then every commit is known.
"""

import json
import os
import select
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.crashes.processes import end, fork
from tests.spark_jobs.crash_table.oracle import Oracle, Rows

PAUSE_SECONDS = 0.06
"""Between two looks: writers need the machine as well."""
NICENESS = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What the reader has seen of one table: its states in the order of their first sight."""

    looks: int
    states: list[Rows]


class Watcher:
    """Looks at tables from `start` to `stop`.

    Args:
        tables: format and folder of each, by name.
        report: the file into which the reader writes what it saw.
    """

    def __init__(self, tables: Mapping[str, tuple[str, Path]], report: Path) -> None:
        self._tables, self._report = tables, report
        self._stop: int | None = None
        self._child = 0

    def start(self) -> None:
        """Begins to look."""
        reading, self._stop = os.pipe()

        def look(stop: int = self._stop) -> None:
            os.close(stop)
            os.nice(NICENESS)
            self._look(reading)

        self._child = fork(look, None)
        os.close(reading)

    def stop(self) -> dict[str, Seen]:
        """Ends the reader, and gives what it has seen of each table."""
        assert self._stop is not None, "it was started"
        # Drivers that were forked meanwhile have this end as well, so that closing it would tell nothing.
        os.write(self._stop, b".")
        os.close(self._stop)
        assert end(self._child) == 0, "the reader met a state that it could not read"
        report = json.loads(self._report.read_text())
        return {
            name: Seen(
                looks=looks, states=[Rows({int(id): n for id, n in state.items()}) for state in states]
            )
            for name, (looks, states) in report.items()
        }

    def _look(self, stop: int) -> None:
        oracle = Oracle()
        looks = dict.fromkeys(self._tables, 0)
        states: dict[str, list[Rows]] = {name: [] for name in self._tables}
        ended = False
        while not ended:
            ended = bool(select.select([stop], [], [], PAUSE_SECONDS)[0])
            for name, (kind, folder) in self._tables.items():
                state = oracle.iceberg(folder) if kind == "iceberg" else oracle.parquet(folder)
                looks[name] += 1
                if state != (states[name][-1] if states[name] else None):
                    states[name].append(state)
        self._report.write_text(json.dumps({name: (looks[name], states[name]) for name in looks}))
