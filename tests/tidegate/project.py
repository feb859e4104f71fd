"""A small project in a temporary folder, and the command line run on it in this process."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from tidegate.cli.main import application
from tidegate.domain.error import UserError
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.tick import tick

SALES = """\
app: sales
timezone: Europe/Berlin

datasets:
  orders: {partitions: {cycle: day, start: 2026-01-01}, path: landing/orders}
  report: {partitions: {cycle: day, start: 2026-01-01}}

programs:
  make_report: {run: programs.make_report, reads: [orders], writes: [report]}

schedules:
  report_daily:
    program: make_report
    trigger: {partitions: {dataset: orders, count: 2}}
    constraints:
      - concurrency: {max: 1}
    status: active
  report_by_day:
    program: make_report
    for_each: day
    trigger: {partitions: {dataset: orders}}
    status: suspended
  report_at_six:
    program: make_report
    trigger: {cron: "0 6 1-15 3 *"}
    status: active
"""
"""Its cron fires in a month of which the tests tell, and never in one in which they run for long."""

SETTINGS = '[warehouse]\ndefault_format = "parquet"\n'
"""Whether Iceberg is installed must not show in tests that are not about it."""


def sales_as(app: str) -> str:
    """The same app under another name, with a folder of its own."""
    return SALES.replace("app: sales", f"app: {app}").replace("landing/orders", f"landing/{app}")


class Project:
    """A project folder with one app, and `tidegate` as its user calls it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "schedules").mkdir()
        (folder / "tidegate.toml").write_text(SETTINGS)
        self.write("sales", SALES)

    def write(self, name: str, text: str) -> None:
        """Write the file of an app."""
        (self.folder / "schedules" / f"{name}.yaml").write_text(text)

    def edit(self, old: str, new: str) -> None:
        """Change the file of the app."""
        file = self.folder / "schedules/sales.yaml"
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    def run(self, *arguments: str, exit_code: int = 0) -> str:
        """Run a command that ends with this code; returns what it prints on stdout."""
        result = self._result(*arguments)
        assert result.exit_code == exit_code, result.output
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.stdout

    def run_with_errors(self, *arguments: str, exit_code: int = 0) -> str:
        """Run a command that ends with this code; returns all that it prints, in one line."""
        result = self._result(*arguments)
        assert result.exit_code == exit_code, result.output
        return " ".join(result.output.replace("│", " ").split())

    def json(self, *arguments: str, exit_code: int = 0) -> Any:
        """Run a command with `--format json`; returns the value that it prints."""
        return json.loads(self.run(*arguments, "--format", "json", exit_code=exit_code))

    def refused(self, *arguments: str) -> UserError:
        """Run a command that a user must put right; returns what it complains about."""
        result = self._result(*arguments)
        assert isinstance(result.exception, UserError), result.output
        return result.exception

    def _result(self, *arguments: str) -> Result:
        return CliRunner().invoke(application, list(arguments))

    def store(self) -> Store:
        """The project's store; close it."""
        return open_store(load_settings().store_url, create=False)

    def arrive(self, *days: str) -> None:
        """Orders of some days arrive, and the engine takes note of them."""
        now = datetime.now(UTC)
        store = self.store()
        with store.transaction() as transaction:
            transaction.add_events(
                [
                    Event(
                        id=f"orders:{day}",
                        kind=EventKind.PARTITION,
                        key=partition_event_key("sales", "orders"),
                        time=now,
                        arrived=now + timedelta(microseconds=number),
                        partition=day,
                        rows=1000,
                    )
                    for number, day in enumerate(days)
                ]
            )
        tick(store, now + timedelta(seconds=1))
        store.close()
