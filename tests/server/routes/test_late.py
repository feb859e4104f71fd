"""What is late over REST, in the metrics, in `tidegate late` and on the page of the dataset."""

from datetime import timedelta
from typing import Any

import pytest

from tests.server.routes.test_metrics import scraped
from tests.server.sales import SPEC, deployed
from tests.server.serving import NS, Served, problem
from tidegate.scheduler.model.records.token import Role

pytestmark = [pytest.mark.store]

BY_SHOP = {"day": {"cycle": "day", "start": "2026-01-01"}, "shop": ["north", "south"]}


def with_deadlines(app: str) -> dict[str, Any]:
    datasets = {
        **SPEC["datasets"],
        "raw": {**SPEC["datasets"]["raw"], "deadline": "08:00", "owner": "feeds"},
        "shops": {"partitions": BY_SHOP, "deadline": "2h"},
    }
    return {**SPEC, "app": app, "datasets": datasets}


@pytest.fixture
def served(server: Served) -> Served:
    """A server of two apps, each with two datasets whose day is late on the second day."""
    for app in ("sales", "other"):
        deployed(server, with_deadlines(app))
    for _ in range(44 * 5):
        server.pass_time(timedelta(minutes=12))
    return server


def listed(client: Any, query: str = "") -> list[dict[str, Any]]:
    answer = client.get(f"{NS}/late{query}")
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def test_late_data_is_listed_counted_and_over_when_it_lands(served: Served):
    found = listed(served.client, "?app=sales&dataset=raw")
    assert {(each["kind"], each["name"], each["owner"]) for each in found} == {
        ("dataset", "sales/raw", "feeds")
    }
    key = found[0]["key"]
    parts = listed(served.client, "?dataset=sales/shops")
    assert parts[0]["missing"] == [f"{parts[0]['key']}|north", f"{parts[0]['key']}|south"]
    numbers = scraped(served.client)
    assert numbers["tidegate_late_total"]["sales", "dataset", "raw"] == len(found)
    assert numbers["tidegate_late_now"]["other", "dataset", "raw"] == len(found)

    body = {"app": "sales", "dataset": "raw", "partitions": [{"key": key}]}
    assert served.client.post(f"{NS}/events/partitions", json=body).status_code == 202
    served.pass_time(timedelta(minutes=1))

    assert key not in [each["key"] for each in listed(served.client, "?app=sales&dataset=raw")]
    over = listed(served.client, "?app=sales&dataset=raw&now=false")
    assert [each["key"] for each in over if each["over_at"]] == [key]
    assert scraped(served.client)["tidegate_late_total"]["sales", "dataset", "raw"] == len(found)
    page = served.client.get("/board/datasets/sales/raw").text
    assert "Late periods of sales/raw" in page


def test_a_token_for_an_app_lists_what_is_late_in_that_app(served: Served):
    client = served.of(served.token(Role.READ, app="sales"))
    assert {each["name"].partition("/")[0] for each in listed(client)} == {"sales"}
    assert problem(client.get(f"{NS}/late?app=other"), 403)
    assert problem(client.get(f"{NS}/late?dataset=other/raw"), 403)


def test_pages_have_every_late_period_once(served: Served):
    whole = listed(served.client)
    seen: list[dict[str, Any]] = []
    cursor = ""
    while cursor is not None:
        answer = served.client.get(f"{NS}/late?limit=1" + (f"&cursor={cursor}" if cursor else "")).json()
        seen += answer["items"]
        cursor = answer["next"]
    assert seen == whole
    assert [each["due"] for each in whole] == sorted((each["due"] for each in whole), reverse=True)


@pytest.mark.parametrize("query", ["?app=nowhere", "?dataset=nowhere", "?now=perhaps"])
def test_unknown_names_and_values_are_refused(served: Served, query: str):
    assert served.client.get(f"{NS}/late{query}").status_code in (400, 422)
