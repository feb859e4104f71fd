"""The version of Tidegate that Dagster's daemon has loaded, in Dagster's database, as its heartbeat is.

The daemon does not know our store. It loads this package to launch what is in the queue, and goes on with
that code after an upgrade in place, until it is restarted.
"""

from datetime import UTC, datetime

import msgspec
from dagster import DagsterInstance

from tidegate.release import release
from tidegate.scheduler.launch.versions import DAEMON_KEY, AtWork
from tidegate.spark_jobs.commit.process import this_process


def note_daemon(instance: DagsterInstance) -> None:
    """Note that this process is the daemon."""
    note = AtWork(version=release(), process=this_process(), since=datetime.now(UTC))
    instance.daemon_cursor_storage.set_cursor_values({DAEMON_KEY: msgspec.json.encode(note).decode()})


def noted_daemon(instance: DagsterInstance) -> AtWork | None:
    """Return the daemon that began last; None if none has noted itself."""
    text = instance.daemon_cursor_storage.get_cursor_values({DAEMON_KEY}).get(DAEMON_KEY)
    return None if text is None else msgspec.json.decode(text, type=AtWork)
