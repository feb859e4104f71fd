"""The page of a dataset: the truth of every partition, as a calendar and as a list."""

from collections.abc import Sequence
from datetime import timedelta
from html import unescape
from itertools import count
from typing import Any

import pytest

from tests.server.board.board import DAYS, shown
from tests.server.board.cal import SPEC
from tests.server.sales import deployed
from tests.server.serving import NOON, Served, problem
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.records.expected import EXPECTED_PERIODS
from tidegate.scheduler.tick.tick import tick

pytestmark = [pytest.mark.store]

_numbers = count()


@pytest.fixture
def cal(server: Served) -> Served:
    """A server with datasets of all cycles, at noon of 2026-03-10."""
    deployed(server, SPEC)
    return server


def land(server: Served, dataset: str, keys: Sequence[str | None], **fields: Any) -> None:
    """Let partitions land, in this order."""
    with server.store.transaction() as transaction:
        transaction.add_events(
            [
                Event(
                    id=f"e{(number := next(_numbers)):06}",
                    kind=EventKind.PARTITION,
                    key=partition_event_key("cal", dataset),
                    time=NOON,
                    arrived=NOON + timedelta(milliseconds=number),
                    partition=key,
                    **fields,
                )
                for key in keys
            ]
        )


def page(server: Served, dataset: str, query: str = "") -> dict[str, Any]:
    return shown(server, f"/board/datasets/cal/{dataset}{query}")


def cells(view: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The cells of a page, by key."""
    return {
        cell["key"]: cell
        for block in view["calendar"]["blocks"]
        for row in block["rows"]
        for cell in row["cells"]
        if cell is not None
    }


def late(view: dict[str, Any]) -> list[str]:
    return sorted(key for key, cell in cells(view).items() if cell["late"])


def test_a_dataset_shows_its_days_and_those_without_a_partition(board: Served):
    view = shown(board, "/board/datasets/sales/raw")
    parts = view["partitions"]["parts"]
    assert {part["key"]: part["status"] for part in parts} == {DAYS[0]: "failed", DAYS[1]: "landed"}
    assert parts[0]["rows"] == 7
    assert late(view) == ["2026-03-08"]
    assert {cells(view)[day]["status"] for day in DAYS} == {"failed", "landed"}


def test_a_day_that_landed_is_not_late_however_often_another_was_reported_since(cal: Served):
    days = [f"2026-02-{day:02}" for day in range(1, 11)]
    land(cal, "days", days)
    land(cal, "days", ["2026-02-11"] * 2_100)
    land(cal, "days", ["2026-02-01"])
    view = page(cal, "days", "?until=2026-02")
    found = cells(view)
    assert [found[day]["status"] for day in (*days, "2026-02-11")] == ["landed"] * 11
    assert late(view) == [f"2026-02-{day:02}" for day in range(12, 29)]
    (often,) = [each for each in view["partitions"]["parts"] if each["key"] == "2026-02-11"]
    assert often["reports"] == 1_000
    assert "1000+" in cal.client.get("/board/datasets/cal/days").text


def test_a_day_counts_the_other_dimension_and_leads_to_its_partitions(cal: Served):
    land(cal, "feeds", ["2026-03-02|north", "2026-03-04|north", "2026-03-04|south"])
    view = page(cal, "feeds")
    found = cells(view)
    assert found["2026-03-02"]["summary"] == "1 of 2 partitions by region landed"
    assert (found["2026-03-04"]["landed"], found["2026-03-04"]["expected"]) == (2, 2)
    # Whether each region comes every day is not known; that no region came on the third is.
    assert late(view) == ["2026-03-03", *(f"2026-03-{day:02}" for day in range(5, 10))]
    html = unescape(cal.client.get("/board/datasets/cal/feeds").text)
    assert "/board/datasets/cal/feeds?period=2026-03-02#partitions" in html
    assert 'aria-label="2026-03-02: 1 of 2 partitions by region landed"' in html
    of_day = page(cal, "feeds", "?period=2026-03-02")
    assert [part["key"] for part in of_day["partitions"]["parts"]] == ["2026-03-02|north"]
    assert of_day["partitions"]["missing"] == ["2026-03-02|south"]
    assert of_day["calendar"]["period"]["landed"] == 1


def test_keys_that_begin_with_the_other_dimension_have_a_calendar_too(cal: Served):
    land(cal, "airports", ["EWR|2026-03-01", "JFK|2026-03-01", "JFK|2026-03-09"])
    view = page(cal, "airports")
    assert (view["calendar"]["first"], view["calendar"]["last"]) == ("2026-03-01", "2026-03-09")
    assert cells(view)["2026-03-01"]["landed"] == 2
    assert cells(view)["2026-03-09"]["landed"] == 1


def test_a_day_counts_its_hours_also_where_clocks_change(cal: Served):
    hours = [f"-{hour:02}:00" for hour in range(24)]
    land(cal, "hours", [f"2026-03-07{hour}" for hour in hours])
    land(cal, "hours", [f"2026-03-08{hour}" for hour in hours if hour != "-02:00"])
    land(cal, "hours", [f"2026-03-09{hour}" for hour in hours[:20]])
    view = page(cal, "hours")
    found = cells(view)
    assert found["2026-03-07"]["summary"] == "24 of 24 hours landed"
    assert found["2026-03-08"]["summary"] == "23 of 23 hours landed"
    assert found["2026-03-09"]["summary"] == "20 of 24 hours landed, late"
    # It is 08:00 in New York: eight hours of today are over.
    assert found["2026-03-10"]["late"] and not found["2026-03-11"]["late"]
    html = cal.client.get("/board/datasets/cal/hours").text
    assert "<small>20/24</small>" in html


def test_today_is_late_only_when_it_is_over_in_the_zone_of_the_dataset(cal: Served):
    land(cal, "days", ["2026-03-08"])
    assert late(page(cal, "days")) == ["2026-03-09"]
    land(cal, "hours", ["2026-03-09-23:00", *(f"2026-03-10-0{hour}:00" for hour in range(8))])
    assert late(page(cal, "hours")) == []


@pytest.mark.parametrize(
    ("dataset", "keys", "block", "key", "summary", "is_late"),
    [
        (
            "minutes",
            ["2026-03-10-09:00", "2026-03-10-09:01"],
            "2026-03-10",
            "2026-03-10-09",
            "2 of 60 minutes landed, late",
            ["2026-03-10-09", "2026-03-10-10", "2026-03-10-11"],
        ),
        ("weeks", ["2026-02-08", "2026-02-22"], "2026", "2026-02-22", "landed", ["2026-02-15", "2026-03-01"]),
        (
            "months",
            ["2025-11-01", "2026-01-01"],
            "2026",
            "2026-01-01",
            "landed",
            ["2025-12-01", "2026-02-01"],
        ),
        ("years", ["2023-01-01", "2025-01-01"], "2020s", "2025-01-01", "landed", ["2024-01-01"]),
    ],
)
def test_every_cycle_has_a_grid(
    cal: Served, dataset: str, keys: list[str], block: str, key: str, summary: str, is_late: list[str]
):
    land(cal, dataset, keys)
    view = page(cal, dataset)
    assert view["calendar"]["blocks"][0]["name"] == block
    assert cells(view)[key]["summary"] == summary
    assert late(view) == is_late
    of_cell = page(cal, dataset, f"?period={key}")["partitions"]["parts"]
    assert of_cell and all(part["key"].startswith(key) for part in of_cell)
    assert (
        cal.client.get(f"/board/datasets/cal/{dataset}", headers={"Accept": "text/html"}).status_code == 200
    )


def test_older_months_are_on_further_pages(cal: Served):
    land(cal, "days", ["2025-06-03", "2026-03-09"])
    view = page(cal, "days")
    assert view["calendar"]["newer"] is None
    names = [block["name"] for block in view["calendar"]["blocks"]]
    assert names == ["2026-03", "2026-02", "2026-01", *(f"2025-{month:02}" for month in range(12, 5, -1))]
    assert page(cal, "feeds")["calendar"] is None
    land(cal, "days", ["2023-01-01"])  # from a time when the dataset began earlier
    view = page(cal, "days")
    assert len(view["calendar"]["blocks"]) == 12 and view["calendar"]["older"] == "2025-03-31"
    older = page(cal, "days", "?until=2025-03-31")
    assert older["calendar"]["blocks"][0]["name"] == "2025-03"
    assert older["calendar"]["newer"] == "2026-03-31"
    html = unescape(cal.client.get("/board/datasets/cal/days").text)
    assert (
        '<a rel="next" href="/board/datasets/cal/days?until=2025-03-31#calendar" class="btn small">Older</a>'
        in html
    )


def test_a_calendar_opens_where_something_has_landed(cal: Served):
    land(cal, "minutes", ["2026-03-02-05:00"])
    view = page(cal, "minutes")
    assert [block["name"] for block in view["calendar"]["blocks"]] == ["2026-03-02"]
    assert cells(view)["2026-03-02-05"]["landed"] == 1
    assert view["calendar"]["newer"] == "2026-03-03-23"
    assert "2026-03-10-11" in cells(page(cal, "minutes", "?until=2026"))


def test_the_calendar_stays_while_a_period_is_listed_and_moves_to_one_that_it_does_not_show(cal: Served):
    land(cal, "minutes", ["2026-03-02-05:00"])
    for query, block in (
        ("?period=2026-03-02-05", "2026-03-02"),
        ("?period=2026-03-04-07", "2026-03-04"),
        ("?until=2026-03-05&period=2026-03-05-01", "2026-03-05"),
        ("?until=2026-03-05&period=2026-03-03-01", "2026-03-03"),
    ):
        assert page(cal, "minutes", query)["calendar"]["blocks"][0]["name"] == block, query
    land(cal, "days", ["2026-01-05", "2026-03-05"])
    view = page(cal, "days", "?period=2026-01-05")
    assert view["calendar"]["blocks"][0]["name"] == "2026-03"
    assert [part["key"] for part in view["partitions"]["parts"]] == ["2026-01-05"]


def test_a_month_with_too_many_partitions_is_cut_and_its_other_days_are_on_the_next_page(cal: Served):
    land(cal, "wide", [f"2026-03-09-{hour:02}:00|s07" for hour in range(24)])
    view = page(cal, "wide", "?until=2026-03-09")
    assert list(cells(view)) == ["2026-03-09"]
    assert cells(view)["2026-03-09"]["summary"] == "24 of 1200 partitions landed"
    assert (view["calendar"]["older"], view["calendar"]["newer"]) == ("2026-03-08", "2026-03-10")
    assert "<small>2%</small>" in cal.client.get("/board/datasets/cal/wide?until=2026-03-09").text


def test_with_a_deadline_a_day_is_late_from_then_until_all_of_it_has_landed(cal: Served):
    land(cal, "due", ["2026-03-05|n", "2026-03-05|s"])
    # It was deployed on the tenth: days before are not expected, and the tenth is not over.
    assert late(page(cal, "due")) == []
    land(cal, "due", ["2026-03-10|n", "2026-03-12|n", "2026-03-12|s"])
    for now, expected in (("2026-03-11T01:59", []), ("2026-03-11T02:01", ["2026-03-10"])):
        _tick_at(cal, now)
        assert late(page(cal, "due")) == expected, now
    assert cells(page(cal, "due"))["2026-03-10"]["summary"] == "1 of 2 partitions by region landed, late"
    for now in ("2026-03-12T02:01", "2026-03-12T02:03"):  # a scheduler that returns waits a minute
        _tick_at(cal, now)
    assert late(page(cal, "due")) == ["2026-03-10", "2026-03-11"]
    # What was noted is pruned one day; the day has still not landed.
    with cal.store.transaction() as transaction:
        assert transaction.drop_old(EXPECTED_PERIODS, cal.now + timedelta(days=1), 10) == 2
    assert late(page(cal, "due")) == ["2026-03-10", "2026-03-11"]
    land(cal, "due", ["2026-03-10|s"])
    assert late(page(cal, "due")) == ["2026-03-11"]


def _tick_at(server: Served, now: str) -> None:
    server.now = type(NOON).fromisoformat(f"{now}+00:00")
    tick(server.store, server.now)


def test_partitions_without_dates_are_listed(cal: Served):
    land(cal, "regions", ["south", "north", "south"], run_id="r")
    land(cal, "whole", [None, None])
    view = page(cal, "regions")
    assert view["calendar"] is None
    parts = view["partitions"]["parts"]
    assert [(p["key"], p["status"], p["reports"]) for p in parts] == [
        ("north", "published", 1),
        ("south", "published", 2),
    ]
    assert view["partitions"]["missing"] == ["west"]
    (whole,) = page(cal, "whole")["partitions"]["parts"]
    assert (whole["key"], whole["reports"]) == ("", 2)


def test_long_lists_of_partitions_have_pages(cal: Served):
    days = [(NOON.date() - timedelta(days=n)).isoformat() for n in range(1, 151)]
    land(cal, "days", days)
    first, second = page(cal, "days"), page(cal, "days", "?row=100")
    listed = [part["key"] for view in (first, second) for part in view["partitions"]["parts"]]
    assert listed == days
    assert (first["partitions"]["next_row"], second["partitions"]["next_row"]) == (100, None)
    assert "row=100#partitions" in cal.client.get("/board/datasets/cal/days").text


def test_keys_that_the_dataset_had_before_do_no_harm(cal: Served):
    land(cal, "days", ["JFK", "2026-03-08-05:00", "2026-03-07|north", "zebra", "2026-03-09"])
    view = page(cal, "days")
    assert cells(view)["2026-03-09"]["status"] == "landed"
    assert [part["key"] for part in view["partitions"]["parts"]] == ["2026-03-09"]


@pytest.mark.parametrize(
    "query",
    [
        "until=odd",
        "until=2026-13",
        "until=2026-02-30",
        "until=0000",
        "period=odd",
        "period=2026-03",
        "period=2026-03-09-05",
        "row=-1",
    ],
)
def test_what_is_no_part_of_the_calendar_is_refused(cal: Served, query: str):
    land(cal, "days", ["2026-03-09"])
    problem(cal.client.get(f"/board/datasets/cal/days?{query}"), 400)


@pytest.mark.parametrize("until", ["0001", "9999-12-31", "2026-03", "1999-01-01-05"])
def test_any_date_leads_to_a_page(cal: Served, until: str):
    for dataset, key in (("days", "2026-03-09"), ("minutes", "2026-03-09-05:00"), ("weeks", "2026-03-08")):
        land(cal, dataset, [key])
        assert cells(page(cal, dataset, f"?until={until}"))
