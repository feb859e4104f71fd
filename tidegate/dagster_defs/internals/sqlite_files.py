"""What Dagster's daemons note in the SQLite files of a home, read without importing Dagster.

Why: Dagster with its storages takes longer to import than all else that `tidegate status` does; nothing
public says what is in the tables. Files that are not exactly as this version of Dagster makes them are not
read here: Dagster itself can read those.
Since: Dagster 1.5 or before; the revisions of the tables are those of the installed version.
"""

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

RUNS = Path("history", "runs.db")
EVENTS = Path("history", "event_log.db")
SHARDED_EVENTS = Path("history", "runs", "index.db")
SCHEDULES = Path("schedules", "schedules.db")

REVISIONS = Path("_core", "storage", "alembic", "versions")
REVISION = re.compile(r'^(revision|down_revision) = "(\w+)"', re.MULTILINE)

BY_SELECTOR = {"schedule_jobs_selector_id", "schedule_ticks_selector_id"}
"""The notes that all rows of switches and ticks have a selector."""

BUSY_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True, slots=True)
class NotedSensor:
    """A sensor as the daemon has it.

    Attributes:
        location: its code location.
        on: whether it is switched on.
        at: its last evaluation, in seconds since 1970; None before the first one.
        error: the message of the error of that evaluation; "" without one.
    """

    name: str
    location: str
    on: bool
    at: float | None = None
    error: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Notes:
    """What the files say.

    Attributes:
        heartbeats: by type of daemon, in seconds since 1970.
        values: the texts that daemons keep, by key.
        revisions: of the tables, by storage.
        head: the revision that the installed version of Dagster has.
        sharded: the event log has a file for each run.
    """

    heartbeats: Mapping[str, float]
    values: Mapping[str, str]
    sensors: tuple[NotedSensor, ...]
    revisions: Mapping[str, str]
    head: str
    sharded: bool


def read_notes(home: Path) -> Notes | None:
    """Return what the files of a home say; None if only some exist or one is not as it is expected."""
    if not any((home / each).exists() for each in (RUNS, EVENTS, SHARDED_EVENTS, SCHEDULES)):
        # No process has worked with this home; to ask Dagster would make the files.
        return Notes(heartbeats={}, values={}, sensors=(), revisions={}, head=_head(), sharded=False)
    sharded = (home / SHARDED_EVENTS).is_file() and not (home / EVENTS).is_file()
    events = SHARDED_EVENTS if sharded else EVENTS
    try:
        with (
            closing(_opened(home / RUNS)) as runs,
            closing(_opened(home / events)) as log,
            closing(_opened(home / SCHEDULES)) as schedules,
        ):
            storages = {"runs": runs, "event log": log, "schedules": schedules}
            return Notes(
                heartbeats=dict(_heartbeats(runs)),
                values=dict(runs.execute("SELECT key, value FROM kvs")),
                sensors=tuple(_sensors(schedules)),
                revisions={name: _revision(opened) for name, opened in storages.items()},
                head=_head(),
                sharded=sharded,
            )
    except (sqlite3.Error, LookupError, TypeError, ValueError, OSError):
        return None


def _opened(path: Path) -> sqlite3.Connection:
    """Open a file that exists to read it."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)


def _heartbeats(runs: sqlite3.Connection) -> Iterator[tuple[str, float]]:
    for (body,) in runs.execute("SELECT body FROM daemon_heartbeats"):
        heartbeat = _fields(body, "DaemonHeartbeat")
        yield str(heartbeat["daemon_type"]), float(heartbeat["timestamp"])


def _sensors(schedules: sqlite3.Connection) -> Iterator[NotedSensor]:
    built = "SELECT name FROM secondary_indexes WHERE migration_completed IS NOT NULL"
    if not {name for (name,) in schedules.execute(built)} >= BY_SELECTOR:
        raise LookupError("switches and ticks are of an older version of Dagster")
    switches = "SELECT instigator_body, selector_id FROM instigators WHERE instigator_type = 'SENSOR'"
    for body, selector in schedules.execute(switches).fetchall():
        state = _fields(body, "InstigatorState")
        repository = state["origin"]["external_repository_origin"]
        sensor = NotedSensor(
            name=state["origin"]["job_name"],
            location=repository["repository_location_origin"]["location_name"],
            on=state["status"]["__enum__"] != "InstigatorStatus.STOPPED",
        )
        yield _evaluated(sensor, schedules, selector)


def _evaluated(sensor: NotedSensor, schedules: sqlite3.Connection, selector: str) -> NotedSensor:
    newest = "SELECT tick_body FROM job_ticks WHERE selector_id = ? ORDER BY timestamp DESC LIMIT 1"
    row = schedules.execute(newest, (selector,)).fetchone()
    if row is None:
        return sensor
    tick = _fields(row[0], "TickData")
    error = tick["error"]
    return NotedSensor(
        name=sensor.name,
        location=sensor.location,
        on=sensor.on,
        at=float(tick["timestamp"]),
        error="" if error is None else str(error["message"]),
    )


def _fields(body: str, kind: str) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(body)
    if fields["__class__"] != kind:
        raise LookupError(f"{fields['__class__']} in place of {kind}")
    return fields


def _revision(opened: sqlite3.Connection) -> str:
    ((revision,),) = opened.execute("SELECT version_num FROM alembic_version").fetchall()
    return str(revision)


def _head() -> str:
    """Return the revision that no other one is built on."""
    spec = find_spec("dagster")
    folders = spec.submodule_search_locations if spec is not None else None
    texts = [path.read_text() for folder in folders or () for path in Path(folder, REVISIONS).glob("*.py")]
    found = [REVISION.findall(text) for text in texts]
    below = {revision for pairs in found for name, revision in pairs if name == "down_revision"}
    (head,) = {revision for pairs in found for name, revision in pairs if name == "revision"} - below
    return head
