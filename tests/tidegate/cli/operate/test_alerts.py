"""`tidegate alerts`: what was sent, what was abandoned, and whether a channel works."""

from collections.abc import Generator
from datetime import UTC, datetime

import pytest

from tests.alerts.receivers import Web, web_server
from tests.tidegate.cli.test_failures import SAID, fail
from tests.tidegate.project import Project
from tidegate.alerts.deliver import deliver
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.alerts.collect import collect
from tidegate.scheduler.alerts.outbox import TRIES_MAX, mark_failed, take
from tidegate.scheduler.model.records.alert import Alert

CHANNELS = """
[alerts.default]
failed = ["ops"]
[alerts.channels.ops]
kind = "webhook"
url = "{}"
"""


@pytest.fixture
def web(deployed: Project) -> Generator[Web]:
    with web_server() as got:
        settings = deployed.folder / "tidegate.toml"
        settings.write_text(settings.read_text() + CHANNELS.format(got.url))
        yield got


def collected(project: Project) -> None:
    """What the host does after a tick."""
    settings, store = load_settings(), project.store()
    collect(store, settings.name, settings.alerts.rules, datetime.now(UTC))
    store.close()


def delivered(project: Project) -> None:
    """What the host does beside it."""
    settings, store = load_settings(), project.store()
    deliver(store, settings.name, settings.alerts.channels, lambda: datetime.now(UTC))
    store.close()


def test_a_failure_is_sent_and_listed(deployed: Project, web: Web) -> None:
    assert deployed.run("alerts", "list") == "No alerts.\n"
    job = fail(deployed)
    collected(deployed)
    assert "pending" in deployed.run("alerts", "list", "--state", "pending")
    delivered(deployed)
    (body,) = web.bodies
    assert (body["job"], body["text"], body["subject"]) == (job, SAID, "sales/report_daily")
    printed = deployed.run("alerts", "list")
    assert "sales/report_daily failed" in printed
    assert "sent" in printed
    (found,) = deployed.json("alerts", "list")
    assert (found["state"], found["channel"], found["message"]["text"]) == ("sent", "ops", SAID)
    assert deployed.run("alerts", "list", "--state", "dead") == "No such alerts.\n"


def test_a_dead_alert_is_sent_again(deployed: Project, web: Web) -> None:
    fail(deployed)
    collected(deployed)
    store = deployed.store()
    for _ in range(TRIES_MAX):
        taken = take(store, "shop", datetime.max.replace(tzinfo=UTC, year=9000))
        assert isinstance(taken, Alert)
        mark_failed(store, taken, "the receiver answered 500", datetime.now(UTC))
    store.close()
    assert "the receiver answered 500" in deployed.run("alerts", "list", "--state", "dead")
    assert "is sent to ops again" in deployed.run("alerts", "retry", "--all-dead", "--reason", "it is back")
    delivered(deployed)
    assert len(web.bodies) == 1
    assert deployed.run("alerts", "retry", "--all-dead") == "No alerts were abandoned.\n"
    assert "give the alerts" in deployed.refused("alerts", "retry").message


def test_a_channel_is_tested_without_the_outbox(deployed: Project, web: Web) -> None:
    assert deployed.run("alerts", "test", "ops") == "channel ops has taken the message\n"
    assert "nothing has failed" in web.bodies[0]["text"]
    assert deployed.run("alerts", "list") == "No alerts.\n"
    assert 'did you mean "ops"' in deployed.refused("alerts", "test", "opps").hint
    web.code = 500
    assert "answered 500" in deployed.refused("alerts", "test", "ops").message


def test_without_channels_the_list_says_where_to_read_on(deployed: Project) -> None:
    assert "tidegate docs alerts" in deployed.run("alerts", "list")


def test_a_change_of_alerts_in_the_yaml_resets_nothing(deployed: Project) -> None:
    with (deployed.folder / "tidegate.toml").open("a") as settings:
        settings.write('[alerts.channels.ops]\nkind = "webhook"\nurl = "http://127.0.0.1:1"\n')
    deployed.edit("    constraints:\n", "    alerts: {failed: [ops]}\n    constraints:\n")
    assert "nothing is reset" in deployed.run("plan", exit_code=2)
    deployed.run("deploy")
    deployed.run("plan")


def test_lint_refuses_channels_that_no_environment_has(deployed: Project) -> None:
    settings, app = deployed.folder / "tidegate.toml", deployed.folder / "schedules" / "sales.yaml"
    settings.write_text(
        settings.read_text()
        + '[alerts.channels.ops]\nkind = "webhook"\nurl = "http://127.0.0.1:1"\n'
        + '[env.prod.alerts.channels.duty]\nkind = "webhook"\nurl = "http://127.0.0.1:1"\n'
    )
    written = app.read_text()
    app.write_text(f"{written}\nalerts: {{failed: [ops, duty]}}\n")
    deployed.run("lint")
    app.write_text(f"{written}\nalerts: {{failed: [ops, dutty]}}\n")
    for command in ("lint", "plan", "deploy"):
        said = deployed.run_with_errors(command, exit_code=1)
        assert "N319" in said and 'did you mean "duty"?' in said, command
