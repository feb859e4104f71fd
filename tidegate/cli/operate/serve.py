"""`tidegate serve`: the server of the project."""

from pathlib import Path
from typing import Annotated

import typer

PORT_MAX = 65_535


def serve(
    host: Annotated[
        str, typer.Option(help="Address to listen on. Others than loopback need a token in the store.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.", min=0, max=PORT_MAX)] = 8080,
    ready_file: Annotated[
        Path | None,
        typer.Option(help="A file that gets the address once the server answers.", metavar="PATH"),
    ] = None,
    with_host: Annotated[
        bool,
        typer.Option(
            " /--no-host",
            help="Run the host too, which drives the engine and creates runs; not where another one does.",
        ),
    ] = True,
) -> None:
    """Answer over HTTP until a signal ends it."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.processes.home import check_home, home_in_use
    from tidegate.processes.server_address import address_file, forget_address
    from tidegate.project.settings.settings import load_settings
    from tidegate.release import release
    from tidegate.scheduler.launch.versions import SERVER, note_version
    from tidegate.server.access import is_loopback
    from tidegate.server.host import HostProcess
    from tidegate.server.listen import listen
    from tidegate.server.service import Service
    from tidegate.spark_jobs.commit.process import this_process

    settings = load_settings()
    if with_host:
        check_home(settings, home_in_use(settings))
    known = address_file(settings.project)
    files = [file for file in (ready_file, known) if file is not None]
    answers_at: list[str] = []
    with opened_store(settings, create=True) as store:
        service = Service(settings=settings, store=store, loopback=is_loopback(host))
        note_version(store, settings.name, SERVER, release(), this_process(), service.clock())
        beside = HostProcess(settings, lambda line: typer.echo(f"host: {line}"))

        def begun(address: str) -> None:
            answers_at.append(address)
            if with_host:
                beside.start()

        try:
            listen(service, host, port, files, typer.echo, begun)
        finally:
            beside.stop()
            for address in answers_at:
                forget_address(settings.project, address)
