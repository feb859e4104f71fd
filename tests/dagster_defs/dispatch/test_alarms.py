"""A tick of the host or the sensor collects alerts, looks for blocked commits, and sends beside itself."""

import time
from dataclasses import replace
from datetime import timedelta

import pytest

from tests.alerts.receivers import web_server
from tests.dagster_defs.sample import NOW, location_of, sample_store
from tidegate.alerts.channel import Alerting, Webhook
from tidegate.dagster_defs.dispatch.alarms import Alarms
from tidegate.dagster_defs.dispatch.steps import Shared
from tidegate.scheduler.model.records.alert import AlertRules
from tidegate.spark_jobs.commit.recovery import BLOCKED_AFTER

pytestmark = pytest.mark.dagster

PATIENCE_SECONDS = 60


def test_a_blocked_commit_reaches_its_channel() -> None:
    log: list[str] = []
    with web_server() as web:
        rules = AlertRules(default={"blocked_commit": ("ops",)})
        alerts = Alerting(rules=rules, channels={"ops": Webhook(url=web.url)})
        location = replace(location_of(sample_store()), alerts=alerts)
        commits = location.open_commits()
        body = '{"datasets": ["flights/clean"]}'
        token = commits.begin("c1", ["flights/clean"], until=NOW + timedelta(hours=1))
        assert commits.put("c1", ["flights/clean"], token, body) == "stored"
        for _ in range(BLOCKED_AFTER):
            commits.take("c1", "me", now=NOW, until=NOW + timedelta(minutes=1))
            commits.fail("c1", "me", "the disk is full", NOW)
        alarms, until = Alarms(), time.monotonic() + PATIENCE_SECONDS
        while not web.bodies and time.monotonic() < until:
            alarms.run(location, NOW, log.append)
        assert [(each["kind"], each["subject"], each["text"]) for each in web.bodies] == [
            ("blocked_commit", "flights/clean", "the disk is full")
        ]
    assert log == []


def test_the_ticks_of_a_process_share_them() -> None:
    assert isinstance(Shared().alerts, Alarms)
