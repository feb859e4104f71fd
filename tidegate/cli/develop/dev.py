"""`tidegate dev`: Dagster on the project, and a redeployment whenever the YAML changes.

Starts the code servers, the daemon, the host, `tidegate serve` and the UI, each a process with its log in
`.tidegate/logs`. The code locations of others beside ours are those of workspace.yaml or pyproject.toml.
A file saved with a mistake is reported and not deployed: the previous deployment remains. So it does if the
change would discard waiting jobs or their events, unless a person at the terminal agrees.
The code server keeps the definitions in a process of its own; if only that ends, it is started again.
Ends with Ctrl-C, with its terminal, or when one of the processes ends, and stops all of them; where it is
killed, they are ended behind it (`processes.reaper`). It begins only where it is alone on the project.
"""

import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.by_hand import by_hand
from tidegate.cli.develop.changes import changes
from tidegate.cli.last_tick import TickWatch
from tidegate.cli.printing import instant
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
        _check_alone(settings)
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


def _check_alone(settings: "Settings") -> None:
    """Refuse beside processes of the project that nothing here has started, which would share the work.

    Raises:
        UserError: there are some; it names them.
    """
    from tidegate.cli.opened_store import opened_store
    from tidegate.processes.living import host_elsewhere, left_after_their_end, to_end
    from tidegate.scheduler.store.error import StoreMissing
    from tidegate.spark_jobs.commit.process import shown

    found = left_after_their_end(settings.dagster_home)
    if found:
        since = instant(found[0].since)
        raise UserError(
            f"processes of another start already work on {settings.project}, since {since}:"
            f" {', '.join(map(str, found))}",
            f"end them first: {to_end(found)}; runs would go to the code that they have loaded",
        )
    host = None
    with suppress(StoreMissing), opened_store(settings) as store:
        host = host_elsewhere(store, settings.name, datetime.now(UTC))
    if host is not None:
        raise UserError(
            f"a host already works on {settings.name}: {shown(host.process)}, since {instant(host.since)}",
            "end it first, or work with that one: `tidegate dev` starts a host of its own, which would wait",
        )


def _run(settings: "Settings", port: int | None, lock: "ProjectLock") -> None:
    from tidegate.processes.code_servers import HOST, free_port
    from tidegate.processes.dagster import DagsterProcesses
    from tidegate.processes.home import site_of
    from tidegate.processes.interrupts import end_on_signals
    from tidegate.processes.locations import with_locations
    from tidegate.processes.site import ProcessFailed

    if not redeploy(settings) and not _anything_deployed(settings):
        raise UserError(
            "the YAML has errors, and no earlier deployment exists to run", "fix the errors above"
        )
    site = with_locations(site_of(settings, port))
    lock.say(site.url)
    end_on_signals(_interrupt)
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
            _serve(settings, processes, lock.check_folder)
    except ProcessFailed as error:
        raise UserError(str(error), "read the log for the cause") from error
    except KeyboardInterrupt:
        with suppress(OSError):  # the terminal may be gone
            typer.echo("stopped")


def redeploy(settings: "Settings") -> bool:
    """Lint and deploy the YAML, print its mistakes, and return whether it is deployed."""
    from tidegate.cli.develop.difference import print_difference
    from tidegate.cli.develop.plan import checked_apps
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


def _serve(
    settings: "Settings", processes: "DagsterProcesses", check_folder: Callable[[], None] = lambda: None
) -> None:
    """Redeploy at every change, and keep the code server alive, until a process ends.

    Args:
        check_folder: is called before anything is read or written.

    Raises:
        ProcessFailed: a process has ended.
        UserError: the folder is not the one in which this command was started.
    """
    from tidegate.processes.site import ProcessFailed

    watch = TickWatch(datetime.now(UTC), settings.tick_seconds)
    looked = asked = monotonic()

    def queries() -> tuple[Path, ...]:
        check_folder()
        return _queries(settings)

    for changed in changes(settings.schedules, queries):
        check_folder()
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
    from tidegate.processes.site import ProcessFailed

    try:
        if processes.revive_code_server():
            typer.echo("warning: the code server's process had ended; it was started again", err=True)
    except ProcessFailed as error:
        typer.echo(f"error: {error}", err=True)


def _warn(settings: "Settings", watch: TickWatch) -> None:
    """Print what the watch has to say of the scheduler's clock."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.tick.clock import last_tick

    try:
        with opened_store(settings) as store, store.reading() as reader:
            warning = watch.look(last_tick(reader), datetime.now(UTC))
    except UserError as error:
        warning = f"warning: {error}"
    if warning is not None:
        typer.echo(warning, err=True)


def _queries(settings: "Settings") -> tuple[Path, ...]:
    """Return the files of the deployed queries of the project."""
    from tidegate.cli.opened_store import opened_store

    with opened_store(settings, create=True) as store, store.reading() as reader:
        apps = [each.app for each in reader.records(APPS) if each.project == settings.name]
    named = (query.file for app in apps for program in app.programs.values() for query in program.sql)
    return tuple(settings.project / file for file in dict.fromkeys(named))


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

    from tidegate.processes.code_servers import HOST

    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _interrupt() -> None:
    """Handle SIGTERM and the end of the terminal like Ctrl-C, so that the processes are stopped too.

    A shell reports the end of its terminal as well as the kernel: only the first signal counts.
    """
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    raise KeyboardInterrupt
