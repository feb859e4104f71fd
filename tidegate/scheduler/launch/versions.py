"""The versions of Tidegate at work: each process of a project that stays notes its own in the store.

After an upgrade in place the files are new, and processes that have begun before go on with the old code
beside new ones. The host notes its version in its lease, a run in its record (`launch.owners`), the server
and the code server here, once when they begin.
"""

from datetime import datetime

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import Store

VERSIONS = "versions"
"""Name of the cursor that holds them, without the project."""

DAEMON_KEY = "tidegate_daemon"
"""The daemon's own note has it, among the keys and values in which Dagster's daemons keep their cursors."""

SERVER, CODE_SERVER = "server", "code server"


class AtWork(Value, kw_only=True):
    """A process that stays.

    Attributes:
        version: of Tidegate; "" where the source is run without an installation.
        process: see `spark_jobs.commit.process`.
        since: when it noted this.
    """

    version: str
    process: str
    since: datetime


def versions_at_work(reader: EngineReader, project: str) -> dict[str, AtWork]:
    """Return the newest process of each part, whether it has ended or not."""
    return msgspec.convert(reader.cursor(_name(project)) or {}, dict[str, AtWork])


def note_version(store: Store, project: str, part: str, version: str, process: str, now: datetime) -> None:
    """Note the version of a part's process, unless that is noted."""
    with store.reading() as reader:
        found = versions_at_work(reader, project).get(part)
    if found is not None and (found.version, found.process) == (version, process):
        return
    with store.transaction() as transaction:
        noted = versions_at_work(transaction, project)
        noted[part] = AtWork(version=version, process=process, since=now)
        transaction.set_cursor(_name(project), msgspec.to_builtins(noted))


def _name(project: str) -> str:
    return f"{VERSIONS}:{project}"
