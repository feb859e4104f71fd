"""`tidegate doctor` on the channels of alerts: what the last message became, and what is lacking."""

import sys
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from tests.alerts.samples import NOON, alert
from tests.tidegate.project import Project
from tidegate.alerts.channel import Channel, Command, Mail, Webhook
from tidegate.cli.operate.health.channels import channel_findings
from tidegate.cli.operate.health.findings import Health
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.model.records.alert import ALERTS, Alert, AlertState

HOOK = Webhook(url="http://127.0.0.1:9/")
CHANNELS = """
[alerts.channels.ops]
kind = "webhook"
url = "http://127.0.0.1:9/"
"""


def ended(state: AlertState, minutes: int = 0, **fields: Any) -> Alert:
    at = NOON + timedelta(minutes=minutes)
    return msgspec.structs.replace(
        alert(id=f"{state}{minutes}"), state=state, ended_at=at, next_at=None, **fields
    )


def waiting(**fields: Any) -> Alert:
    return msgspec.structs.replace(alert(), **fields)


@pytest.mark.parametrize(
    ("newest", "health", "text"),
    [
        ((), Health.OK, "has sent nothing yet"),
        ((waiting(),), Health.OK, "has sent nothing yet"),
        ((ended(AlertState.SENT),), Health.OK, "last message sent at 2026-03-10 12:00"),
        ((waiting(tries=2, error="no"),), Health.WRONG, "try 2 of a message has failed: no"),
        ((ended(AlertState.DEAD, error="no"),), Health.WRONG, "was abandoned at 2026-03-10 12:00"),
        # The channel was repaired since.
        ((ended(AlertState.DEAD), ended(AlertState.SENT, 5)), Health.OK, "sent at 2026-03-10 12:05"),
    ],
)
def test_what_became_of_the_last_message(newest: tuple[Alert, ...], health: Health, text: str) -> None:
    (found,) = channel_findings({"ops": HOOK}, {"ops": newest})
    assert (found.part, found.health) == ("channel ops", health)
    assert text in found.text
    assert bool(found.remedy) == (health is not Health.OK)


@pytest.mark.parametrize(
    ("channel", "lacks"),
    [
        (HOOK, ""),
        (Webhook(url_env="HOOK"), "variable HOOK is not set"),
        (Webhook(url="http://h/", token_env="TOKEN"), "variable TOKEN is not set"),
        (Mail(host="h", sender="a@b", to=("c@d",), user="u", password_env="PASSWORD"), "variable PASSWORD"),
        (Command(command=(sys.executable,)), ""),
        (Command(command=("/nowhere/notify",)), "program /nowhere/notify is not found"),
    ],
)
def test_what_this_process_lacks(channel: Channel, lacks: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOOK", "TOKEN", "PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    (found,) = channel_findings({"ops": channel}, {})
    assert found.health is (Health.NOTE if lacks else Health.OK)
    assert lacks in found.text


@pytest.mark.dagster
def test_the_command_names_a_channel_that_fails(deployed: Project) -> None:
    settings = deployed.folder / "tidegate.toml"
    settings.write_text(settings.read_text() + CHANNELS)
    store, name = deployed.store(), load_settings().name
    with store.transaction() as transaction:
        transaction.put_records(ALERTS, [ended(AlertState.DEAD, project=name, error="no route")])
    store.close()
    found = {each["part"]: each for each in deployed.json("doctor", exit_code=1)}
    assert found["channel ops"]["health"] == "wrong"
    assert "no route" in found["channel ops"]["text"]
