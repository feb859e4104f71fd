"""`tidegate dev`: Dagster on the project, and a redeployment whenever the YAML changes.

Starts the code servers, the daemon, the host, `tidegate serve` and the UI, each a process with its log in
`.tidegate/logs`. The code locations of others beside ours are those of workspace.yaml or pyproject.toml.
A file saved with a mistake is reported and not deployed: the previous deployment remains. So it does if the
change would discard waiting jobs or their events, unless a person at the terminal agrees.
The code server keeps the definitions in a process of its own; if only that ends, it is started again.
Ends with Ctrl-C, or when one of the processes ends, and stops all of them.
"""

import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.by_hand import by_hand
from tidegate.cli.last_tick import TickWatch
from tidegate.domain.error import UserError
from tidegate.scheduler.model.deployed import APPS

if TYPE_CHECKING:
    from tidegate.compiler.plan.diff import Diff
    from tidegate.domain.model import App
    from tidegate.processes.dagster import DagsterProcesses
    from tidegate.processes.lock import ProjectLock
    from tidegate.project.settings.settings import Settings

DEFAULT_PORT = 3000

SERVER_PORT = 8080
"""Preferred port of `tidegate serve`."""

CHECK_MILLISECONDS = 1000
"""Interval of the check that the processes are alive, while no file changes."""

PORT_MAX = 65_535

TICK_CHECK_SECONDS = 15
"""Interval of the check that the scheduler ticks."""

CODE_CHECK_SECONDS = 5
"""Interval of the check that the code server has its definitions."""


def dev(
    port: Annotated[
        int | None, typer.Option(min=1, max=PORT_MAX, help="Port of the UI; default: 3000 or a free port.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Also on a store that is not the project's own.")
    ] = False,
) -> None:
    """Run Dagster on the project; redeploy when the YAML changes."""
    from tidegate.processes.lock import project_lock
    from tidegate.project.settings.settings import load_settings

    settings = load_settings()
    if not settings.own_store and not yes:
        raise _foreign(settings)
    with project_lock(settings.project) as lock:
        if port is not None and not _is_free(port):
            raise UserError(f"port {port} is in use", "choose another one, or leave out --port")
        _run(settings, port or _preferred_port(), lock)


def _foreign(settings: "Settings") -> UserError:
    from tidegate.scheduler.store.open import shown_url

    environment = f" of the environment {settings.environment}" if settings.environment else ""
    return UserError(
        f"`tidegate dev` redeploys at each saved file, and the store{environment}, "
        f"{shown_url(settings.store_url)}, is not this project's own file",
        "leave out --env, TIDEGATE_ENV and TIDEGATE_STORE_URL; or say --yes if this store is for development",
    )


def _run(settings: "Settings", port: int | None, lock: "ProjectLock") -> None:
    from tidegate.processes.dagster import HOST, DagsterProcesses, ProcessFailed, free_port
    from tidegate.processes.home import site_of
    from tidegate.processes.locations import with_locations

    if not redeploy(settings) and not _anything_deployed(settings):
        raise UserError(
            "the YAML has errors, and no earlier deployment exists to run", "fix the errors above"
        )
    site = with_locations(site_of(settings, port))
    lock.say(site.url)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with DagsterProcesses(site) as processes:
            typer.echo("starting Dagster ...")
            for problem in processes.start_others():
                typer.echo(f"warning: {problem}", err=True)
            if not processes.site.merged:
                processes.start_code_server()
            processes.start_daemon()
            processes.start_host()
            server_port = SERVER_PORT if _is_free(SERVER_PORT) else free_port()
            processes.start_server(server_port)
            processes.start_webserver()
            typer.echo(f"Dagster UI: {site.url}   logs: {site.logs}   stop with Ctrl-C")
            typer.echo(f"REST: http://{HOST}:{server_port}")
            _serve(settings, processes)
    except ProcessFailed as error:
        raise UserError(str(error), "read the log for the cause") from error
    except KeyboardInterrupt:
        typer.echo("stopped")


def redeploy(settings: "Settings") -> bool:
    """Lint and deploy the YAML, print its mistakes, and return whether it is deployed."""
    from tidegate.cli.develop.plan import checked_apps, print_difference
    from tidegate.cli.printing import Format

    try:
        applied = _deployed(settings, checked_apps(settings, Format.TEXT).apps)
    except typer.Exit:
        typer.echo("not deployed; the previous deployment remains", err=True)
        return False
    except typer.Abort:
        raise KeyboardInterrupt from None
    except UserError as error:
        typer.echo(f"not deployed: {error}", err=True)
        return False
    print_difference(applied, Format.TEXT)
    return True


def _deployed(settings: "Settings", wanted: "Mapping[str, App]") -> "Diff":
    """Deploy apps unless that would discard what waits and no person agrees.

    Raises:
        typer.Exit: no person agrees.
    """
    from tidegate.cli.develop.agreement import lost
    from tidegate.cli.develop.plan import project_scope
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.commands.deployment.deploy import deploy
    from tidegate.scheduler.commands.deployment.live import difference

    agreed: tuple[str, ...] = ()
    with opened_store(settings, create=True) as store:
        while True:
            with store.transaction() as transaction:
                scope = project_scope(transaction, settings, wanted, None, remove_apps=False)
                discarded = lost(difference(transaction, wanted, scope=scope))
                if discarded in ((), agreed):
                    now, by = datetime.now(UTC), by_hand("")
                    return deploy(transaction, wanted, now, scope=scope, by=by, assume_published=False)
            _ask(discarded)
            agreed = discarded


def _ask(discarded: tuple[str, ...]) -> None:
    """Ask a person whether what waits may be discarded.

    Raises:
        typer.Exit: no person is at the terminal, or the person declines.
    """
    typer.echo("The change discards what waits:", err=True)
    for line in discarded:
        typer.echo(f"  {line}", err=True)
    if sys.stdin.isatty() and typer.confirm("Deploy it?"):
        return
    typer.echo(
        "hint: `on_update: carry` keeps the events of a changed schedule, `renamed_from` those of a renamed"
        " dataset; `tidegate deploy` discards them",
        err=True,
    )
    raise typer.Exit(1)


def _serve(settings: "Settings", processes: "DagsterProcesses") -> None:
    """Redeploy at every change, and keep the code server alive, until a process ends.

    Raises:
        ProcessFailed: a process has ended.
    """
    from tidegate.processes.dagster import ProcessFailed

    watch = TickWatch(datetime.now(UTC), settings.tick_seconds)
    looked = asked = monotonic()
    for changed in changes(settings.schedules, lambda: _queries(settings)):
        if monotonic() - looked >= TICK_CHECK_SECONDS:
            looked = monotonic()
            _warn(settings, watch)
        dead = processes.dead()
        if dead is not None:
            raise dead.failed("has ended")
        if monotonic() - asked >= CODE_CHECK_SECONDS:
            _revive(processes)
            asked = monotonic()
        if not changed or not redeploy(settings):
            continue
        try:
            processes.reload()
            typer.echo("reloaded")
        except ProcessFailed as error:
            typer.echo(f"error: {error}", err=True)


def _revive(processes: "DagsterProcesses") -> None:
    """Start the process with the definitions again if it has ended, and say so."""
    from tidegate.processes.dagster import ProcessFailed

    try:
        if processes.revive_code_server():
            typer.echo("warning: the code server's process had ended; it was started again", err=True)
    except ProcessFailed as error:
        typer.echo(f"error: {error}", err=True)


def _warn(settings: "Settings", watch: TickWatch) -> None:
    """Print what the watch has to say of the scheduler's clock."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.tick.tick import last_tick

    try:
        with opened_store(settings) as store, store.reading() as reader:
            warning = watch.look(last_tick(reader), datetime.now(UTC))
    except UserError as error:
        warning = f"warning: {error}"
    if warning is not None:
        typer.echo(warning, err=True)


def changes(folder: Path, queries: Callable[[], tuple[Path, ...]] = tuple) -> Iterator[bool]:
    """Yield True for each change of YAML files below a folder, and of the files of rows that they name.

    Yields False every second without a change. Rows and queries may be elsewhere in the project, so they are
    looked at.

    Args:
        queries: returns the files of the queries that are deployed.
    """
    from watchfiles import watch

    from tidegate.project.yaml_files import SUFFIXES

    rows = (*_rows(folder), *queries())
    seen = _stamps(rows)
    for found in watch(folder, yield_on_timeout=True, rust_timeout=CHECK_MILLISECONDS):
        if found:
            rows = (*_rows(folder), *queries())
        now = _stamps(rows)
        changed = now != seen or any(Path(path).suffix.lower() in SUFFIXES for _, path in found)
        yield changed
        if changed:
            # With the queries of the deployment that followed; what was saved meanwhile is a change.
            rows = (*rows, *(file for file in queries() if file not in now))
        seen = {**_stamps(rows), **now}


def _rows(folder: Path) -> tuple[Path, ...]:
    from tidegate.project.named_files import rows_named
    from tidegate.project.yaml_files import read_files

    return tuple(rows_named(read_files([folder]).contents))


def _queries(settings: "Settings") -> tuple[Path, ...]:
    """Return the files of the deployed queries of the project."""
    from tidegate.cli.opened_store import opened_store

    with opened_store(settings, create=True) as store, store.reading() as reader:
        apps = [each.app for each in reader.records(APPS) if each.project == settings.name]
    named = (query.file for app in apps for program in app.programs.values() for query in program.sql)
    return tuple(settings.project / file for file in dict.fromkeys(named))


def _stamps(files: tuple[Path, ...]) -> dict[Path, tuple[int, int, int] | None]:
    """Return when and how each file was written last: two equal stamps are one content."""
    found: dict[Path, tuple[int, int, int] | None] = dict.fromkeys(files)
    for file in files:
        with suppress(OSError):
            status = file.stat()
            found[file] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return found


def _anything_deployed(settings: "Settings") -> bool:
    from tidegate.cli.opened_store import opened_store
    from tidegate.compiler.plan.ownership import NO_PROJECT

    with opened_store(settings, create=True) as store, store.reading() as reader:
        return any(deployed.project in (settings.name, NO_PROJECT) for deployed in reader.records(APPS))


def _preferred_port() -> int | None:
    """Return the default port, or None if it is in use."""
    return DEFAULT_PORT if _is_free(DEFAULT_PORT) else None


def _is_free(port: int) -> bool:
    import socket

    from tidegate.processes.dagster import HOST

    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """Handle SIGTERM like Ctrl-C, so that the processes are stopped too."""
    raise KeyboardInterrupt
