"""What is found of each part of a project that must be alive: for `tidegate doctor` and `tidegate status`.

Whether others can read or write the files of a SQLite store is a part too: it has arguments, events and the
journal. New files are private (`store.sql.open`). Those of a careless copy are not.
"""

import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from tidegate.cli.operate.health.clusters import spark_findings
from tidegate.cli.operate.health.findings import (
    Engine,
    Finding,
    Health,
    dagster_findings,
    engine_findings,
    is_daemon_alive,
    withheld_findings,
)
from tidegate.domain.error import UserError
from tidegate.domain.part_name import app_of
from tidegate.domain.wording import plural
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.records.watched import WATCHED_FOLDERS

FORMAT_OF_FILES = "parquet"
"""Tables whose list of publishes is a file that this process can read."""
TABLES_LOOKED_AT = 500

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

    from tidegate.processes.alive import DagsterState
    from tidegate.project.settings.settings import Settings
    from tidegate.scheduler.explain.work import Work
    from tidegate.scheduler.launch.active_host import ActiveHost
    from tidegate.scheduler.model.records.alert import Alert
    from tidegate.scheduler.model.records.watched import WatchedFolder
    from tidegate.scheduler.store.engine_reader import EngineReader


def findings(
    settings: "Settings", now: datetime, *, thorough: bool = False
) -> "tuple[list[Finding], Work | None]":
    """Return the findings on the store, the engine and Dagster, and the work; None without a store.

    Args:
        thorough: also compare each next fire with its crons, and look for damage in the store and in tables
            of files: all of that reads what the rest does not.
    """
    from tidegate.cli.operate.health.channels import channel_findings
    from tidegate.processes.alive import dagster_state

    try:
        # At once: Dagster takes seconds on a busy machine, and a lease renewed meanwhile is of the future.
        engine, work, alerts = _store(settings, now, thorough=thorough)
    except UserError as error:
        state = dagster_state(settings, thorough=thorough)
        found = [Finding(part="store", health=Health.WRONG, text=error.message, remedy=error.hint)]
        work, hosted = None, False
    else:
        state = dagster_state(settings, thorough=thorough)
        found = [Finding(part="store", health=Health.OK, text=_reached(engine))]
        engine = replace(engine, versions=[*engine.versions, *_daemon_version(state, now)])
        found += permission_findings(settings.store_url)
        found += engine_findings(engine, now, settings.tick_seconds)
        found += channel_findings(settings.alerts.channels, alerts)
        found += _damaged_tables(settings, engine.apps) if thorough else []
        found += withheld_findings(work, now) if thorough else []
        hosted = engine.host is not None and engine.host.holds(now)
    found += dagster_findings(state, now, hosted=hosted)
    found += spark_findings(settings) if thorough else []
    return found + list(second_set(state)), work


def second_set(state: "DagsterState | str") -> Iterator[Finding]:
    """Yield a finding where more than one daemon works on Dagster's home."""
    from tidegate.cli.printing import instant
    from tidegate.processes.living import to_end

    if isinstance(state, str) or not state.beside:
        return
    yield Finding(
        part="second set of processes",
        health=Health.WRONG,
        text=f"works on the same Dagster home, since {instant(state.beside[0].since)}:"
        f" {', '.join(map(str, state.beside))}",
        remedy=f"end it: {to_end(state.beside)}; else its code server gets runs, with the code it has loaded",
    )


def _daemon_version(state: "DagsterState | str", now: datetime) -> Iterator[tuple[str, str]]:
    """Yield the version of Dagster's daemon, if it is at work and has loaded Tidegate."""
    from tidegate.spark_jobs.commit.process import is_gone, shown

    if isinstance(state, str) or state.daemon is None or not is_daemon_alive(state.heartbeat, now):
        return
    process = state.daemon.process
    if not process:
        yield "", "daemon"
    elif not is_gone(process):
        yield state.daemon.version, f"daemon {shown(process)}"


def _store(
    settings: "Settings", now: datetime, *, thorough: bool
) -> "tuple[Engine, Work, dict[str, tuple[Alert, ...]]]":
    """Return what the store says, and the newest alerts of each channel.

    Raises:
        UserError: the store cannot be used.
    """
    from tidegate.cli.opened_store import opened_store
    from tidegate.cli.operate.health.channels import newest_alerts
    from tidegate.processes.living import is_renewed
    from tidegate.release import release
    from tidegate.scheduler.explain.missed import silent_crons
    from tidegate.scheduler.explain.work import work_of
    from tidegate.scheduler.intake.table_checks import table_checks
    from tidegate.scheduler.launch.active_host import host_of
    from tidegate.scheduler.launch.obstacles import hostless, location_states
    from tidegate.scheduler.store.sql.connection.lock import writer_of
    from tidegate.scheduler.store.sql.store import SqlStore
    from tidegate.scheduler.tick.clock import engine_clock, is_ahead

    with opened_store(settings) as store, store.reading() as reader:
        apps = [each.name for each in reader.app_headers() if each.project == settings.name]
        newest, host = reader.newest_deployment(), host_of(reader, settings.name)
        clock = engine_clock(reader)
        deployed_at = None if newest is None else newest[1]
        # A next fire is too late if a clock was ahead: of a tick, which sets the fires back with its own, or
        # of a deployment. To compare each one with its crons takes as long as there are schedules.
        ahead = any(at is not None and is_ahead(at, now) for at in (clock, deployed_at))
        renewed = host is not None and not host.holds(now) and is_renewed(store, settings.name, host)
        engine = Engine(
            apps=apps,
            ticked_at=clock,
            host=host,
            renewed=renewed,
            deployed_at=deployed_at,
            locations=location_states(reader, settings.name),
            hostless=hostless(reader, apps),
            folders=_watched_folders(reader, settings.name),
            silent=silent_crons(reader, frozenset(apps), now) if thorough or ahead else (),
            version=release(),
            versions=_versions(
                reader, settings.name, host if renewed or (host and host.holds(now)) else None
            ),
            tables=table_checks(reader, settings.name),
            damage=reader.damage() if thorough else (),
            writer=writer_of(store.engine) if isinstance(store, SqlStore) else None,
        )
        alerts = newest_alerts(reader, settings.name, settings.alerts.channels)
        return engine, work_of(reader, frozenset(apps), now), alerts


def _versions(reader: "EngineReader", project: str, host: "ActiveHost | None") -> list[tuple[str, str]]:
    """Return the version of each process of the project that may be at work, and what it is."""
    from tidegate.scheduler.launch.owners import owners
    from tidegate.scheduler.launch.versions import versions_at_work
    from tidegate.spark_jobs.commit.process import is_gone, shown

    found = [] if host is None else [(host.version, f"host {shown(host.process)}")]
    found += [
        (each.version, f"{part} {shown(each.process)}")
        for part, each in sorted(versions_at_work(reader, project).items())
        if not is_gone(each.process)
    ]
    runs = Counter(owner.version for owner in owners(reader).values() if not is_gone(owner.process))
    return found + [(version, plural(number, "run")) for version, number in sorted(runs.items())]


def _damaged_tables(settings: "Settings", names: "Sequence[str]") -> "list[Finding]":
    """Return the Parquet tables of this machine whose newest version cannot be read, with the file."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.project.spark import warehouse
    from tidegate.spark_jobs.datasets.dataset_ref import dataset_ref
    from tidegate.spark_jobs.errors import SparkJobError, SparkMissing
    from tidegate.spark_jobs.files.scheme import is_local
    from tidegate.spark_jobs.publication.formats import format_of

    place, found = warehouse(settings), list[Finding]()
    with opened_store(settings) as store, store.reading() as reader:
        apps = [each.app for each in reader.records(APPS, name=names)]
    refs = [dataset_ref(app.name, each) for app in apps for each in app.datasets.values()]
    here = [ref for ref in refs if ref.format == FORMAT_OF_FILES and is_local(ref.root(place))]
    for ref in here[:TABLES_LOOKED_AT]:
        try:
            format_of(ref).commits(ref, place, _no_spark)
        except SparkMissing as error:
            text = f"{plural(len(here), 'table')} not looked at: {error.message}"
            found.append(Finding(part="tables of files", health=Health.NOTE, text=text, remedy=error.hint))
            break
        except SparkJobError as error:
            found.append(
                Finding(part=f"table {ref.id}", health=Health.WRONG, text=error.message, remedy=error.hint)
            )
        except OSError:
            continue  # The finding of the warehouse says why.
    return found


def _no_spark() -> "SparkSession":
    raise AssertionError("a table of files is read without Spark")


def _watched_folders(reader: "EngineReader", project: str) -> "list[WatchedFolder]":
    """Return the folders of datasets that are watched now."""
    folders = reader.records(WATCHED_FOLDERS, project=project)
    if not folders:
        return []
    names = {app_of(each.dataset) for each in folders}
    apps = [each.app for each in reader.records(APPS, name=names)]
    watched = {f"{app.name}/{name}" for app in apps for name, each in app.datasets.items() if each.watch}
    return [each for each in folders if each.dataset in watched]


def _reached(engine: Engine) -> str:
    from tidegate.cli.printing import instant
    from tidegate.scheduler.store.sql.schema import HEAD

    last = f", last deployment at {instant(engine.deployed_at)}" if engine.deployed_at else ""
    return f"reached, of the right schema ({HEAD}){last}"


def project_findings(settings: "Settings") -> Iterator[Finding]:
    """Yield a finding for the server and for the warehouse."""
    yield _server(settings)
    yield _warehouse(settings)


def _server(settings: "Settings") -> Finding:
    from tidegate.processes.server_address import asked, known_address

    address = known_address(settings.project)
    if address is None:
        return Finding(
            part="server",
            health=Health.NOTE,
            text="none has left its address in this project",
            remedy="start `tidegate serve` for the board and REST",
        )
    said = asked(address)
    if said is None:
        return Finding(
            part="server",
            health=Health.NOTE,
            text=f"does not answer at {address}",
            remedy="start `tidegate serve`; its log says why it ended",
        )
    ready = said.get("ready") is True
    return Finding(
        part="server",
        health=Health.OK if ready else Health.WRONG,
        text=f"answers at {address}" + ("" if ready else f", not ready: scheduler {said.get('scheduler')}"),
        remedy="" if ready else f"see {address}/readyz",
    )


def _warehouse(settings: "Settings") -> Finding:
    import os

    place = settings.warehouse
    if isinstance(place, str):
        return Finding(
            part="warehouse",
            health=Health.NOTE,
            text=f"{place}: reached by Spark only, not asked",
            remedy="`tidegate commits fsck` reads it with Spark",
        )
    if place.is_dir() and os.access(place, os.R_OK | os.W_OK | os.X_OK):
        return Finding(part="warehouse", health=Health.OK, text=f"{place} can be written")
    if not place.exists() and place.parent.is_dir():
        return Finding(
            part="warehouse",
            health=Health.NOTE,
            text=f"{place} does not exist",
            remedy="the first run makes it",
        )
    return Finding(
        part="warehouse",
        health=Health.WRONG,
        text=f"{place} cannot be written",
        remedy="mount it, or correct its permissions or `[warehouse] path` in tidegate.toml",
    )


OWN_FOLDER = ".tidegate"
BESIDE = ("", "-wal", "-shm")
"""Ends of the names of a store's files."""

ANY, WRITE = stat.S_IRWXG | stat.S_IRWXO, stat.S_IWGRP | stat.S_IWOTH


def permission_findings(store_url: str) -> Iterator[Finding]:
    """Yield a finding for the folder and for each file of the store that others can use."""
    from sqlalchemy import make_url

    from tidegate.scheduler.store.sql.connection.read_only import file_of

    url = make_url(store_url)
    if url.get_backend_name() != "sqlite":
        return
    file = file_of(url)
    # Another folder may be shared: that others can list it shows them nothing.
    yield from _permission(file.parent, "700", ANY if file.parent.name == OWN_FOLDER else WRITE)
    for end in BESIDE:
        yield from _permission(file.with_name(f"{file.name}{end}"), "600", ANY)


def _permission(path: Path, private: str, refused: int) -> Iterator[Finding]:
    with suppress(FileNotFoundError):
        mode = stat.S_IMODE(path.stat().st_mode)
        # In a folder with the sticky bit, as /tmp, no user replaces the files of others.
        if not mode & refused or (path.is_dir() and mode & stat.S_ISVTX):
            return
        writable = mode & stat.S_IWOTH
        yield Finding(
            part=f"permissions of {path.name}",
            health=Health.WRONG if writable else Health.NOTE,
            text=f"{path} is not private ({mode:o}): other users of this machine can"
            f" {'write' if writable else 'use'} it",
            remedy=f"`chmod {private} {quote(str(path))}`, unless a group is meant to have access",
        )
