"""`tidegate doctor`: what works, what does not, and what to do about it."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import typer

from tidegate.cli.printing import Format, FormatOption, print_json
from tidegate.domain.error import UserError

if TYPE_CHECKING:
    from tidegate.cli.operate.health import Engine, Finding
    from tidegate.project.settings.settings import Settings


def doctor(format: FormatOption = Format.TEXT) -> None:
    """Check the store, the host, Dagster's daemon, database and code; exit code 1 if one is wrong."""
    from tidegate.cli.operate.health import Health

    found = _findings(datetime.now(UTC))
    if format is Format.JSON:
        print_json(found)
    else:
        for finding in found:
            typer.echo(f"{finding.health:5} {finding.part}: {finding.text}")
            if finding.remedy:
                typer.echo(f"      {finding.remedy}")
    if any(finding.health is Health.WRONG for finding in found):
        raise typer.Exit(1)


def _findings(now: datetime) -> list["Finding"]:
    from tidegate.cli.operate.health import Finding, Health, dagster_findings, engine_findings
    from tidegate.processes.alive import dagster_state
    from tidegate.project.settings.settings import load_settings

    settings = load_settings()
    try:
        engine = _engine(settings)
    except UserError as error:
        found = [Finding(part="store", health=Health.WRONG, text=error.message, remedy=error.hint)]
        hosted = False
    else:
        found = [Finding(part="store", health=Health.OK, text="reached, of the right schema")]
        found += engine_findings(engine, now, settings.tick_seconds)
        hosted = engine.host is not None and engine.host.holds(now)
    # Asked last: Dagster may take seconds to answer.
    return found + list(dagster_findings(dagster_state(settings), now, hosted=hosted))


def _engine(settings: "Settings") -> "Engine":
    """Return what the store says.

    Raises:
        UserError: the store cannot be used.
    """
    from tidegate.cli.opened_store import opened_store
    from tidegate.cli.operate.health import Engine
    from tidegate.scheduler.launch.active_host import host_of
    from tidegate.scheduler.tick.tick import engine_clock

    with opened_store(settings) as store, store.reading() as reader:
        return Engine(
            apps=sorted(each.app.name for each in reader.apps() if each.project == settings.name),
            ticked_at=engine_clock(reader),
            host=host_of(reader, settings.name),
        )
