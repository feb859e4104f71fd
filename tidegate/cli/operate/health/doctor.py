"""`tidegate doctor`: what works, what does not, and what to do about it."""

from datetime import UTC, datetime

import typer

from tidegate.cli.printing import Format, FormatOption, print_json, print_line


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
