"""A person of operations at work, with what the documentation names: the command line, REST and the board.

They stop an app, see why a job waits, force it, find what became of yesterday's event, hear of a
failure by webhook, and roll back the deployment that caused it all. The server is a process of its own, and
the commands run beside it; the test plays the host.
"""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.alerts.receivers import Web, web_server
from tests.server.process import ServerProcess
from tests.server.serving import NS
from tidegate.alerts.deliver import deliver
from tidegate.cli.main import application
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.alerts.collect import collect
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.launch.outbox import offer_launches
from tidegate.scheduler.launch.run_report import claim, note_failure
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.tick.tick import tick

pytestmark = pytest.mark.store  # a process of its own

YESTERDAY = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()

SETTINGS = """\
[project]
name = "sales"
[deploy]
check_imports = false
[alerts.channels.chat]
kind = "webhook"
url = "{url}"
[alerts.default]
failed = ["chat"]
"""
APP = """\
app: sales
datasets:
  raw: {partitions: {cycle: day, start: 2026-01-01}}
  prices: {partitions: {cycle: day, start: 2026-01-01}}
  clean: {partitions: {cycle: day, start: 2026-01-01}}
programs: {clean: {run: programs.clean, reads: [raw, prices], writes: [clean]}}
schedules:
  each_day:
    program: clean
    for_each: day
    trigger: {all: [{partitions: {dataset: raw}}, {partitions: {dataset: prices}}]}
    status: active
"""
BEFORE = APP.replace(", {partitions: {dataset: prices}}", "")
"""What was deployed until the last deployment made the schedule wait for prices, which never arrive."""

TWO_DAYS_AGO = (datetime.now(UTC) - timedelta(days=2)).date().isoformat()

FAILURE = "ValueError: no prices (programs/clean.py:12)"


class Night:
    """A project with a server, the receiver of its alerts, and the host, which the test plays."""

    def __init__(self, folder: Path, web: Web) -> None:
        self.folder, self.web = folder, web
        (folder / "tidegate.toml").write_text(SETTINGS.format(url=web.url))
        (folder / "schedules").mkdir()
        for text in (BEFORE, APP):
            (folder / "schedules" / "sales.yaml").write_text(text)
            self.cli("deploy")
        self.settings = load_settings(folder)
        self.store = open_store(self.settings.store_url)
        self.server = ServerProcess(folder, "--no-host")
        self.client = self.server.client()

    def end(self) -> None:
        self.client.close()
        self.server.end()
        self.store.close()

    def cli(self, *arguments: str) -> str:
        """What a command prints, called in the folder of the project."""
        done = CliRunner().invoke(application, arguments)
        assert done.exit_code == 0, done.output
        return done.stdout

    def get(self, path: str) -> Any:
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def tick(self) -> None:
        tick(self.store, datetime.now(UTC))

    def run_fails(self) -> None:
        """The host creates the only run that is due, which fails, and sends the alert."""
        self.tick()
        now = datetime.now(UTC)
        with self.store.transaction() as transaction:
            (request,) = offer_launches(transaction, now, "sales")
        assert claim(self.store, request.job, request.attempt, "run-1", now).won
        note_failure(self.store, request.job, request.attempt, "run-1", FAILURE, now)
        seen = RunObservation(
            run_id="run-1",
            program="sales/clean",
            job=request.job,
            attempt=request.attempt,
            status=RunStatus.FAILED,
            at=now,
        )
        with self.store.transaction() as transaction:
            observe_runs(transaction, [seen], now)
        collect(self.store, self.settings.name, self.settings.alerts.rules, now)
        deliver(self.store, self.settings.name, self.settings.alerts.channels, lambda: datetime.now(UTC))


@pytest.fixture
def night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Night]:
    for variable in ("TIDEGATE_PROJECT", "TIDEGATE_STORE_URL"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    with web_server() as web:
        made = Night(tmp_path, web)
        yield made
        made.end()


def test_a_night_of_a_person_of_operations(night: Night) -> None:
    body = {"app": "sales", "dataset": "raw", "partitions": [{"key": YESTERDAY, "rows": 7}]}
    assert night.client.post(f"{NS}/events/partitions", json=body).status_code == 202
    night.tick()

    own = {"Origin": night.server.address.rstrip("/")}
    reason = {"reason": "the lake is down"}
    pressed = night.client.post("/board/apps/sales/hold", data=reason, headers=own)
    assert "sales is on hold" in night.client.get(pressed.headers["location"]).text
    now = night.client.get("/").text
    assert "Nothing of app sales is launched" in now and "the lake is down" in now
    assert "on hold since" in night.cli("apps", "list")

    (job,) = night.get(f"{NS}/jobs")["items"]
    printed = night.cli("why", job["id"])
    assert "W-TRIGGER" in printed and "schedules/sales.yaml:11" in printed
    shown = night.client.get(f"/board/jobs/{job['id']}").text
    assert "not met" in shown
    text = re.sub(r"<[^>]*>", "", shown)
    assert ":11" in text
    assert not re.search(r"\Sschedules/sales", text)

    page = f"/board/jobs/{job['id']}"
    pressed = night.client.post(f"{page}/force", data={"reason": "the feed is complete"}, headers=own)
    assert pressed.status_code == 303
    assert "is forced: " in night.client.get(pressed.headers["location"]).text
    assert night.client.post(f"{NS}/apps/sales/release", json={}).json()["hold"] is None

    night.run_fails()
    (alert,) = night.web.bodies
    assert (alert["kind"], alert["subject"], alert["key"]) == ("failed", "sales/each_day", YESTERDAY)
    assert (alert["job"], alert["text"]) == (job["id"], FAILURE)
    assert FAILURE in night.client.get(page).text

    (event,) = night.get(f"/board/events?dataset=sales/raw&partition={YESTERDAY}&format=json")["items"]
    (received,) = event["deliveries"]
    assert (received["job"], received["state"], received["reason"]) == (job["id"], "FAILED", "F-RUN")
    (listed,) = json.loads(night.cli("events", "list", "--key", "partition:sales", "--format", "json"))
    assert [each["state"] for each in listed["deliveries"]] == ["FAILED"]
    shown = night.cli("jobs", "show", job["id"])
    assert "the feed is complete" in shown and FAILURE in shown

    last, before = json.loads(night.cli("deployments", "log", "--format", "json"))
    assert last["apps"]["sales"]["schedules"] == {"each_day": "replace"}
    assert "prices" in night.cli("deployments", "show", str(last["number"]))
    back = str(before["number"])
    printed = night.cli("deployments", "rollback", back, "--yes", "--reason", "prices never arrive")
    assert "each_day" in printed and "the next deploy follows it again" in printed
    newest = night.get(f"{NS}/deployments")["items"][0]
    assert (newest["rollback_to"], newest["reason"]) == (before["number"], "prices never arrive")
    log = night.client.get("/board/deployments").text
    assert log.count(f'<a href="/board/deployments/{back}">{back}</a>') == 2 and "prices never arrive" in log
    spec = night.get(f"{NS}/apps/sales/schedules/each_day")
    assert spec["trigger"] == {"all": [{"partitions": {"dataset": "raw"}}]}

    body = {"app": "sales", "dataset": "raw", "partitions": [{"key": TWO_DAYS_AGO, "rows": 9}]}
    assert night.client.post(f"{NS}/events/partitions", json=body).status_code == 202
    night.tick()
    newer = next(each for each in night.get(f"{NS}/jobs")["items"] if each["key"] == TWO_DAYS_AGO)
    assert newer["state"] == "PENDING_LAUNCH"
