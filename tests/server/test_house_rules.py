"""Calls obey the rules that the project adds to those of the language."""

import dataclasses
from typing import Any

import pytest

from tests.server.sales import APP, SPEC
from tests.server.serving import Served, problem
from tidegate.compiler.rules.house import HouseRules, LimitRule

pytestmark = [pytest.mark.store]


def obey(server: Served, **rules: Any) -> None:
    """Give the server's project some rules."""
    settings = dataclasses.replace(server.service.settings, rules=HouseRules(**rules))
    object.__setattr__(server.service, "settings", settings)


def test_an_app_and_a_schedule_that_break_a_rule_are_400_with_its_code(server: Served) -> None:
    obey(server, owner="error")
    found = problem(server.client.put(APP, json={"spec": SPEC}), 400)["diagnostics"]
    assert {each["code"] for each in found} == {"T511"}
    assert found[0]["path"].startswith("schedules")

    obey(server, max_per_app=LimitRule(max=len(SPEC["schedules"])))
    assert server.client.put(APP, json={"spec": SPEC}).status_code == 200
    one = next(iter(SPEC["schedules"].values()))
    found = problem(server.client.put(f"{APP}/schedules/one_more", json=one), 400)["diagnostics"]
    assert [each["code"] for each in found] == ["T515"]

    obey(server, max_per_app=LimitRule(max=len(SPEC["schedules"]), severity="warning"))
    assert server.client.put(f"{APP}/schedules/one_more", json=one).status_code == 200


def test_channels_that_the_settings_do_not_have_are_400(server: Served) -> None:
    settings = dataclasses.replace(server.service.settings, channels=frozenset({"ops"}))
    object.__setattr__(server.service, "settings", settings)
    found = problem(server.client.put(APP, json={"spec": {**SPEC, "alerts": {"late": ["pager"]}}}), 400)
    assert [(each["code"], each["hint"]) for each in found["diagnostics"]] == [("N319", "channels here: ops")]
    assert server.client.put(APP, json={"spec": {**SPEC, "alerts": ["ops"]}}).status_code == 200
    one = {**next(iter(SPEC["schedules"].values())), "alerts": ["opps"]}
    found = problem(server.client.put(f"{APP}/schedules/one_more", json=one), 400)["diagnostics"]
    assert [each["hint"] for each in found] == ['did you mean "ops"?']
