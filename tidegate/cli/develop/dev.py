"""`tidegate dev`: Dagster on the project, and a redeployment whenever the YAML changes.

Starts a code server, the daemon and the UI, each a process with its log in `.tidegate/logs`.
A file saved with a mistake is reported and not deployed: the previous deployment remains.
Ends with Ctrl-C, or when one of the processes ends, and stops all of them.
"""

import signal
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.last_tick import TickWatch
from tidegate.domain.error import UserError

if TYPE_CHECKING:
    from tidegate.processes.dagster import DagsterProcesses
    from tidegate.processes.lock import ProjectLock
    from tidegate.project.settings import Settings

DEFAULT_PORT = 3000

CHECK_MILLISECONDS = 1000
"""Interval of the check that the processes are alive, while no file changes."""

PORT_MAX = 65_535

TICK_CHECK_SECONDS = 15
"""Interval of the check that the scheduler ticks."""


def dev(
    port: Annotated[
        int | None, typer.Option(min=1, max=PORT_MAX, help="Port of the UI; default: 3000 or a free port.")
    ] = None,
) -> None:
    """Run Dagster on the project; redeploy when the YAML changes."""
    from tidegate.processes.lock import project_lock
    from tidegate.project.settings import load_settings

    settings = load_settings()
    with project_lock(settings.project) as lock:
        _run(settings, port, lock)


def _run(settings: "Settings", port: int | None, lock: "ProjectLock") -> None:
    from tidegate.processes.dagster import DagsterProcesses, ProcessFailed
    from tidegate.processes.home import site_of

    if not redeploy(settings) and not _anything_deployed(settings):
        raise UserError(
            "the YAML has errors, and no earlier deployment exists to run", "fix the errors above"
        )
    site = site_of(settings, port or _preferred_port())
    lock.say(site.url)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with DagsterProcesses(site) as processes:
            typer.echo("starting Dagster ...")
            processes.start_code_server()
            processes.start_daemon()
            processes.start_webserver()
            typer.echo(f"Dagster UI: {site.url}   logs: {site.logs}   stop with Ctrl-C")
            _serve(settings, processes)
    except ProcessFailed as error:
        raise UserError(str(error), "read the log for the cause") from error
    except KeyboardInterrupt:
        typer.echo("stopped")


def redeploy(settings: "Settings") -> bool:
    """Lint and deploy the YAML, print its mistakes, and return whether it is deployed."""
    from tidegate.cli.develop.plan import compiled_apps, print_difference, project_scope
    from tidegate.cli.opened_store import opened_store
    from tidegate.cli.printing import Format
    from tidegate.scheduler.commands.deploy import deploy

    try:
        wanted = compiled_apps(settings, Format.TEXT)
        with opened_store(settings, create=True) as store, store.transaction() as transaction:
            scope = project_scope(transaction, settings, wanted, None, remove_apps=False)
            applied = deploy(transaction, wanted, datetime.now(UTC), scope=scope)
    except typer.Exit:
        typer.echo("not deployed; the previous deployment remains", err=True)
        return False
    except UserError as error:
        typer.echo(f"not deployed: {error}", err=True)
        return False
    print_difference(applied, Format.TEXT)
    return True


def _serve(settings: "Settings", processes: "DagsterProcesses") -> None:
    """Redeploy at every change until a process ends.

    Raises:
        ProcessFailed: a process has ended.
    """
    from tidegate.processes.dagster import ProcessFailed

    watch = TickWatch(datetime.now(UTC), settings.tick_seconds)
    looked = monotonic()
    for changed in _changes(settings.schedules):
        if monotonic() - looked >= TICK_CHECK_SECONDS:
            looked = monotonic()
            _warn(settings, watch)
        dead = processes.dead()
        if dead is not None:
            raise dead.failed("has ended")
        if not changed or not redeploy(settings):
            continue
        try:
            processes.reload()
            typer.echo("reloaded")
        except ProcessFailed as error:
            typer.echo(f"error: {error}", err=True)


def _warn(settings: "Settings", watch: TickWatch) -> None:
    """Print what the watch has to say of the scheduler's clock."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.tick.tick import engine_clock

    try:
        with opened_store(settings) as store, store.reading() as reader:
            warning = watch.look(engine_clock(reader), datetime.now(UTC))
    except UserError as error:
        warning = f"warning: {error}"
    if warning is not None:
        typer.echo(warning, err=True)


def _changes(folder: Path) -> Iterator[bool]:
    """Yield True for each change of YAML files below a folder, and False every second without a change."""
    from watchfiles import watch

    from tidegate.project.yaml_files import SUFFIXES

    for changes in watch(folder, yield_on_timeout=True, rust_timeout=CHECK_MILLISECONDS):
        yield any(Path(path).suffix.lower() in SUFFIXES for _, path in changes)


def _anything_deployed(settings: "Settings") -> bool:
    from tidegate.cli.opened_store import opened_store

    with opened_store(settings, create=True) as store, store.reading() as reader:
        return bool(reader.apps())


def _preferred_port() -> int | None:
    """Return the default port, or None if it is in use."""
    import socket

    from tidegate.processes.dagster import HOST

    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, DEFAULT_PORT))
        except OSError:
            return None
    return DEFAULT_PORT


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """Handle SIGTERM like Ctrl-C, so that the processes are stopped too."""
    raise KeyboardInterrupt
