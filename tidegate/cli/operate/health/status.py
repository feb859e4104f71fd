"""`tidegate doctor` and `tidegate status`: what works, what does not, and what waits or has failed.

Both read the same findings. `doctor` looks thoroughly and says what to do about each part; `status` fits
one screen.
"""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import typer

from tidegate.cli.printing import Format, FormatOption, instant, print_json, print_line, print_table

if TYPE_CHECKING:
    from tidegate.cli.operate.health.findings import Finding
    from tidegate.scheduler.explain.work import Oldest, Work


def doctor(format: FormatOption = Format.TEXT) -> None:
    """Check the store, the host, Dagster's daemon, database and code; exit code 1 if one is wrong."""
    from tidegate.cli.operate.health.findings import Health
    from tidegate.cli.operate.health.found import findings
    from tidegate.project.settings.settings import load_settings

    found, _ = findings(load_settings(), datetime.now(UTC), thorough=True)
    if format is Format.JSON:
        print_json(found)
    else:
        for finding in found:
            print_line(f"{finding.health:5} {finding.part}: {finding.text}")
            if finding.remedy:
                print_line(f"      {finding.remedy}")
    if any(finding.health is Health.WRONG for finding in found):
        raise typer.Exit(1)


def status(format: FormatOption = Format.TEXT) -> None:
    """Say whether everything is alive, and what waits or has failed; exit code 1 if a part is wrong."""
    from tidegate.cli.operate.health.findings import Health
    from tidegate.cli.operate.health.found import findings, project_findings
    from tidegate.project.settings.settings import load_settings

    settings, now = load_settings(), datetime.now(UTC)
    found, work = findings(settings, now)
    found += project_findings(settings)
    alive = all(finding.health is not Health.WRONG for finding in found)
    if format is Format.JSON:
        print_json({"project": settings.name, "at": now, "alive": alive, "parts": found, "work": work})
    else:
        _print(settings.name, found, work, now, alive=alive)
    if not alive:
        raise typer.Exit(1)


def _print(project: str, found: "list[Finding]", work: "Work | None", now: datetime, *, alive: bool) -> None:
    word = typer.style("alive", fg="green") if alive else typer.style("not alive", fg="red", bold=True)
    typer.echo(f"{project}: {word}")
    print_table(["", "part", "state"], [[each.health, each.part, each.text] for each in found])
    if work is not None:
        typer.echo("")
        print_table(["work", ""], _rows(work, now))
    if not alive:
        typer.echo("\n`tidegate doctor` says what to do.")


def _rows(work: "Work", now: datetime) -> list[list[str]]:
    return [
        ["running", f"{work.running:,}"],
        ["waiting", f"{work.waiting:,}"],
        ["oldest waiting", "-" if work.oldest_waiting is None else _oldest(work.oldest_waiting)],
        ["dead letters", _dead(work.dead_letters)],
        ["failed in 24 hours", f"{work.failed:,}"],
        ["withheld publishes", _withheld(work, now)],
        ["late", f"{work.late:,}; `tidegate late`" if work.late else "0"],
        ["apps on hold", ", ".join(work.held) or "-"],
    ]


def _oldest(oldest: "Oldest") -> str:
    name = f"a job of {oldest.app}" if oldest.job is None else f"job {oldest.job}"
    return f"{name}, since {instant(oldest.since)}, {oldest.reason or oldest.state.value}"


def _withheld(work: "Work", now: datetime) -> str:
    from tidegate.cli.operate.health.findings import withheld_text

    listed = "; `tidegate commits list`" if work.withheld else ""
    return f"{withheld_text(work, now)}{listed}"


def _dead(letters: int) -> str:
    return f"{letters:,}; `tidegate jobs list --dead-letters`" if letters else "0"
