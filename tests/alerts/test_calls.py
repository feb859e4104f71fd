"""Calls: a receiver that never ends holds its own channel only, and for a limited time."""

import time
from threading import Event

import pytest

from tests.alerts.samples import alert
from tidegate.alerts import deliver as module
from tidegate.alerts.channel import Channel, NotSent, Webhook
from tidegate.alerts.deliver import Calls
from tidegate.scheduler.model.records.alert import Alert

HOOK = Webhook(url="http://127.0.0.1:9/")


def test_a_receiver_that_drips_is_left_behind_and_its_channel_waits_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ends, sent = Event(), list[str]()

    def drip(channel: Channel, alert: Alert) -> None:
        if alert.id == "slow":
            ends.wait(60)
        sent.append(alert.id)

    monkeypatch.setattr(module, "send", drip)
    monkeypatch.setattr(module, "SECONDS", 0.05)
    calls = Calls()
    with pytest.raises(NotSent, match="took more than"):
        calls.send("ops", HOOK, alert(id="slow"))
    with pytest.raises(NotSent, match="earlier message to ops is still being sent"):
        calls.send("ops", HOOK, alert(id="next"))
    monkeypatch.setattr(module, "SECONDS", 60)
    calls.send("chat", HOOK, alert(id="other"))
    ends.set()
    until = time.monotonic() + 60
    while sent[-1] != "last" and time.monotonic() < until:
        try:
            calls.send("ops", HOOK, alert(id="last"))
        except NotSent:
            time.sleep(0.01)
    assert sent == ["other", "slow", "last"]


def test_what_goes_wrong_is_raised_to_the_caller() -> None:
    with pytest.raises(NotSent, match="cannot be reached"):
        Calls().send("ops", HOOK, alert())
