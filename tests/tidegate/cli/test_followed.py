"""`backfill --follow` and `maintenance run --wait`: lines in a pipe, a bar in a terminal, their ends."""

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from tests.tidegate.tables import ORDERS, TableProject
from tests.tidegate.tasks import TaskProject
from tests.worlds.by import CLI
from tidegate.cli import followed
from tidegate.cli.followed import Step
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.commands.backfills.cancel import cancel_backfill
from tidegate.scheduler.model.maintenance import Ending
from tidegate.scheduler.store.open import open_store

pytestmark = pytest.mark.slow  # whole commands

DATES = ("--from", "2026-03-01", "--to", "2026-03-03")


def meanwhile(monkeypatch: pytest.MonkeyPatch, *steps: Callable[[], object]) -> None:
    """Let something happen between the looks at the store."""
    rest = iter(steps)
    monkeypatch.setattr(followed, "sleep", lambda _: next(rest)())


def cancelled() -> None:
    store = open_store(load_settings().store_url, create=False)
    with store.transaction() as transaction:
        cancel_backfill(transaction, 1, datetime.now(UTC), CLI)
    store.close()


def test_a_backfill_is_followed_until_it_is_done(tasks: TaskProject) -> None:
    run = tasks.project.run
    assert "tidegate backfill status 1 --follow" in run("backfill", "start", "revenue", *DATES)
    for day in ("02", "03", "04"):
        run("instances", "mark", "revenue", f"2026-03-{day}", "--backfill", "1")
    assert run("backfill", "status", "1", "--follow") == "backfill 1: 3 of 3, done, 0 running, 0 failed\n"
    assert tasks.project.json("backfill", "status", "1", "--follow")["state"] == "done"


def test_a_backfill_that_is_cancelled_ends_with_1(
    tasks: TaskProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile(monkeypatch, lambda: None, cancelled)
    printed = tasks.project.run("backfill", "start", "revenue", *DATES, "--follow", exit_code=1)
    assert printed.splitlines()[-3:] == [
        "backfill 1: 0 of 3, running, 0 running, 0 failed",
        "backfill 1: 0 of 3, the scheduler does not tick: `tidegate status`",
        "backfill 1: 0 of 0, cancelled, 0 running, 0 failed",
    ]


def test_who_interrupts_it_is_told_that_the_backfill_goes_on(
    tasks: TaskProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    tasks.project.run("backfill", "start", "revenue", *DATES)
    meanwhile(monkeypatch, interrupted)
    said = tasks.project.run_with_errors("backfill", "status", "1", "--follow", exit_code=130)
    assert said.endswith("backfill 1 goes on; `tidegate backfill status 1 --follow` shows it")
    assert tasks.project.json("backfill", "status", "1")["state"] == "running"


@pytest.mark.parametrize(("ending", "code"), [(Ending.SUCCEEDED, 0), (Ending.FAILED, 1)])
def test_operations_are_waited_for_one_after_the_other(
    tables: TableProject, monkeypatch: pytest.MonkeyPatch, ending: Ending, code: int
) -> None:
    def ended(ending: Ending) -> None:
        tables.ended(tables.launched(), ending, changed=ending is Ending.SUCCEEDED)

    meanwhile(monkeypatch, lambda: ended(Ending.SUCCEEDED), lambda: ended(ending))
    printed = tables.project.run("maintenance", "run", ORDERS, "--wait", exit_code=code)
    assert "rewrite_data_files of warehouse.analytics.orders by policy shop/hot starts as job" in printed
    lines = [line for line in printed.splitlines() if line.startswith(f"{ORDERS}: ")]
    assert [line.split(": ")[1].split(",")[0] for line in lines] == ["0 of 2", "1 of 2", "2 of 2"]


def test_for_tools_the_progress_is_on_stderr(tables: TableProject, monkeypatch: pytest.MonkeyPatch) -> None:
    def ended() -> None:
        tables.ended(tables.launched(), changed=True)

    meanwhile(monkeypatch, ended, ended)
    printed = tables.project.run("maintenance", "run", ORDERS, "--wait", "--format", "json")
    assert [job["state"] for job in json.loads(printed)["jobs"]] == ["SUCCEEDED", "SUCCEEDED"]


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_has_a_bar_without_codes_of_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    with followed._display("a\x1b[2Jb [red]", terminal) as show:
        show(Step(1, 3, "running\x1b]0;title\x07", ended=False))
        show(Step(3, 3, "done", ended=True))
    printed = terminal.getvalue()
    assert "a[2Jb [red]" in printed and "3/3" in printed and "━" in printed
    assert "\x1b[2J" not in printed and "\x07" not in printed
