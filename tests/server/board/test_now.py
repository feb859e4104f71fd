"""*Now*: its sentence, its numbers with their lists, what needs a person, what waits for what, what comes."""

from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from msgspec.structs import replace

from tests.crashes.statements import listening
from tests.server.board.board import DAYS, HOSTILE, HTML, shown
from tests.server.board.night import APP, SPEC, fill
from tests.server.sales import deployed
from tests.server.serving import NS, Served
from tests.store.commits.sequences import FAILED
from tests.worlds.samples import job, operation_job
from tidegate.scheduler.explain.work import work_of
from tidegate.scheduler.launch.obstacles import note_locations
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.token import Role
from tidegate.scheduler.model.records.withheld_publish import WITHHELD_PUBLISHES, WithheldPublish
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.server.board.now.needs import NEEDS_MAX

pytestmark = [pytest.mark.store]

NUMBERS = {"failed": 2, "late": 1, "running": 1, "queued": 1, "waiting": 7, "held": 1, "bell": 0}


@pytest.fixture
def night(server: Served) -> Served:
    """A project in the middle of its work, see `tests.server.board.night`, at 08:00 of New York."""
    deployed(server, SPEC)
    fill(server.store, server.now, server.now)
    return server


def tiles(view: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["state"]: each for each in view["tiles"]}


def groups(view: dict[str, Any]) -> list[tuple[int, str]]:
    return [(each["jobs"], each["title"]) for each in view["waits"]["groups"]]


def test_a_sentence_says_what_needs_a_person_and_then_the_rest(night: Served) -> None:
    assert shown(night, "/")["sentence"] == ("2 jobs failed and 1 is late. 1 runs, 1 is queued and 7 wait.")


def test_an_empty_project_says_so_in_words(server: Served) -> None:
    view = shown(server, "/")
    assert view["sentence"].endswith(
        "Nothing has failed in the last 24 hours, and nothing is late. No job runs or waits."
    )
    html = server.client.get("/", headers=HTML).text
    assert "Nothing needs a person" in html
    assert "No job waits." in html
    assert "Nothing has run, waits or comes in this span." in html


def test_a_location_that_is_not_loaded_is_said_with_its_error(server: Served) -> None:
    problems = {"ours": "", "acme": "SyntaxError: <invalid>"}
    note_locations(server.store, server.service.settings.name, problems, server.now)

    listed = shown(server, "/")["engine"]["locations"]
    html = server.client.get("/", headers=HTML).text

    assert [(each["name"], each["state"]) for each in listed] == [("acme", "failed"), ("ours", "loaded")]
    assert "The code location acme is not loaded." in html
    assert "SyntaxError: &lt;invalid&gt;" in html
    assert "location ours" not in html


def test_what_now_counts_is_what_its_links_list(night: Served) -> None:
    view = shown(night, "/")
    found = tiles(view)
    assert {state: tile["number"] for state, tile in found.items()} == NUMBERS
    for state in ("failed", "late", "running", "queued", "waiting", "held"):
        # Held jobs wait, too: the list of what waits has them.
        more = NUMBERS["held"] if state == "waiting" else 0
        assert len(shown(night, found[state]["href"])["items"]) == NUMBERS[state] + more, state
    html = unescape(night.client.get("/", headers=HTML).text)
    assert all(f'href="{tile["href"]}"' in html for tile in found.values())


def test_a_decided_launch_is_queued_in_the_number_and_in_its_list(night: Served) -> None:
    with night.store.transaction() as transaction:
        transaction.put_jobs([job("decided", f"{APP}/by_hour", state=JobState.PENDING_LAUNCH)])
    tile = tiles(shown(night, "/"))["queued"]
    listed = [each["id"] for each in shown(night, tile["href"])["items"]]
    assert tile["number"] == len(listed) == 2
    assert "decided" in listed


def test_each_number_has_its_last_24_hours(night: Served) -> None:
    found = tiles(shown(night, "/"))
    assert {len(tile["points"]) for tile in found.values()} == {24}
    assert sum(found["failed"]["points"]) == 2
    assert (found["failed"]["points"][-1], found["failed"]["points"][-5]) == (1, 1)
    assert found["running"]["points"][-1] == 1
    # Eleven hours ago two runs had just begun, and ten hours ago one.
    assert found["running"]["points"][-13:-10] == [0, 2, 1]
    assert found["waiting"]["points"][-1] == NUMBERS["waiting"]
    assert found["held"]["points"][-4:] == [1, 1, 1, 1]
    assert found["late"]["points"][-3:] == [0, 1, 1]
    assert found["running"]["line"] == "longest 11 min"
    assert found["late"]["line"] == "by 1 h 00 min at most"


def test_failures_are_counted_by_their_end_as_status_does(night: Served) -> None:
    with night.store.transaction() as transaction:
        (failed,) = transaction.jobs(schedules=[f"{APP}/refresh_reference_nightly"])
        transaction.put_jobs([replace(failed, opened_at=night.now - timedelta(hours=30))])
        broken = {"state": JobState.FAILED, "ended_at": night.now - timedelta(hours=1)}
        transaction.put_jobs([operation_job("broken", f"{APP}/delays", f"{APP}/nightly", **broken)])
    with night.store.reading() as reader:
        assert work_of(reader, frozenset({APP}), night.now).failed == 2
    assert tiles(shown(night, "/"))["failed"]["number"] == 2
    assert '<span class="n s-failed">2 failed</span>' in night.client.get("/", headers=HTML).text
    night.now += timedelta(hours=25)
    assert tiles(shown(night, "/"))["failed"]["number"] == 0


def test_what_needs_a_person_has_its_cause_and_one_action(night: Served) -> None:
    failed, late, other = shown(night, "/")["needs"]
    assert (failed["name"], failed["key"], failed["says"]) == (
        f"{APP}/delays_by_weather_nightly",
        "2013-12-18",
        "clean_weather of 2013-12-18 has no column visib (programs/join.py:41)",
    )
    assert (failed["action"], failed["href"]) == ("Retry", f"/board/jobs/{failed['job']}/retry")
    assert (late["state"], late["name"], late["says"]) == (
        "late",
        f"{APP}/daily_totals",
        f"Waits for a report of {APP}/flights_complete",
    )
    assert other["says"] == "landing/planes/planes.parquet: the file ends after 4,096 bytes"
    for each in (failed, late, other):
        assert night.client.get(each["href"], headers=HTML).status_code == 200


def test_a_withheld_publish_needs_a_person_however_long_ago_it_was(night: Served) -> None:
    failed = shown(night, "/")["needs"][0]
    dataset, of = f"{APP}/delays", {"token": 1, "verdicts": (FAILED,)}
    long_ago = night.now - timedelta(days=30)
    rows = [
        WithheldPublish(commit="of-a-job", job=failed["job"], datasets=(dataset,), at=night.now, **of),
        WithheldPublish(commit="by-hand", job="", datasets=(dataset,), at=long_ago, **of),
    ]
    with night.store.transaction() as transaction:
        transaction.put_records(WITHHELD_PUBLISHES, rows)

    new, *others, old = shown(night, "/")["needs"]
    assert (new["state"], new["name"], new["key"]) == ("withheld", failed["name"], failed["key"])
    assert (new["says"], new["href"]) == ("Check rows: 0 rows, at least 1", "/board/commits/of-a-job")
    assert failed["job"] not in {each["job"] for each in others}, "it takes the place of its failed job"
    assert (old["state"], old["name"], old["href"]) == ("withheld", dataset, "/board/commits/by-hand")


def test_a_reader_is_led_to_pages_and_not_to_actions(night: Served) -> None:
    reader = night.of(night.token(Role.READ))
    needs = reader.get("/", params={"format": "json"}).json()["needs"]
    assert {each["action"] for each in needs} == {"Open"}
    assert all(reader.get(each["href"], headers=HTML).status_code == 200 for each in needs)


@pytest.mark.parametrize(
    ("reason", "fields", "action"),
    [
        (Reason.F_LAUNCH, {}, "requeue"),
        (Reason.F_CANCELLED, {}, "retry"),
    ],
)
def test_the_action_is_the_one_that_helps(night: Served, reason: Reason, fields: Any, action: str) -> None:
    with night.store.transaction() as transaction:
        ended = {"state": JobState.FAILED, "reason": reason, "opened_at": night.now, "ended_at": night.now}
        transaction.put_jobs([job("bad", f"{APP}/by_hour", **ended, **fields)])
    first = shown(night, "/")["needs"][0]
    assert (first["job"], first["href"]) == ("bad", f"/board/jobs/bad/{action}")


def test_what_waits_is_grouped_by_what_it_waits_for(night: Served) -> None:
    view = shown(night, "/")
    assert sorted(groups(view)) == [
        (1, f"is held: {APP}/carrier_report is suspended"),
        (1, "waits for data: clean_flights and weather"),
        (2, f"queue for a slot of program {APP}/clean"),
        (2, f"wait for a report of {APP}/flights_complete"),
        (2, "wait for tonight's window"),
    ]
    window = next(each for each in view["waits"]["groups"] if "window" in each["title"])
    assert (window["until"], window["reasons"]) == ("2026-03-11T02:00:00Z", ["W-WINDOW"])
    assert window["says"] == "It is open from 22:00 to 06:00 America/New_York."
    assert [who["key"] for who in window["who"]] == ["2013-12-20", "2013-12-19"]
    upstream = next(each for each in view["waits"]["groups"] if "for a report" in each["title"])
    assert upstream["until_text"] == "until it is reported"
    assert set(upstream["reasons"]) == {"W-REPORT", "W-UPSTREAM"}
    assert view["waits"]["more"] == 0


def test_operations_on_tables_are_apart(night: Served) -> None:
    waits = shown(night, "/")["waits"]
    assert waits["upkeep"]["jobs"] == 3
    assert waits["upkeep"]["says"] == (
        "2 as the window of the operation is closed and 1 as the health of the table"
        " could not be measured yet"
    )
    assert not [code for each in waits["groups"] for code in each["reasons"] if code.startswith("M-")]


def test_more_than_twenty_groups_are_counted(night: Served) -> None:
    waits = {"state": JobState.PENDING_CONSTRAINT, "reason": Reason.W_LOAD, "opened_at": night.now}
    with night.store.transaction() as transaction:
        transaction.put_jobs(
            [job(f"g{n}", f"{APP}/by_hour", blocked_on=f"gauge:g{n}", **waits) for n in range(30)]
        )
    found = shown(night, "/")["waits"]
    assert len(found["groups"]) == 20
    assert found["more"] + sum(each["jobs"] for each in found["groups"]) == 38
    assert f">{found['more']} more</a>" in night.client.get("/", headers=HTML).text


def test_the_end_of_an_upstream_failure_is_said(night: Served) -> None:
    with night.store.transaction() as transaction:
        (awaited,) = transaction.jobs(ids=[f"{APP}.flights_complete-00000000000f"])
        transaction.put_jobs(
            [replace(awaited, state=JobState.FAILED, reason=Reason.F_REPORTED, ended_at=night.now)]
        )
    assert (1, f"waits for {APP}/flights_complete, which has failed") in groups(shown(night, "/"))


def test_next_has_ends_openings_waits_and_fires_in_the_order_of_time(night: Served) -> None:
    coming = shown(night, "/")["coming"]
    assert [each["at"] for each in coming] == sorted(each["at"] for each in coming)
    assert len(coming) <= 9
    said = {each["what"]: each for each in coming}
    assert said["clean_flights_daily ends"]["about"]
    assert said["clean_flights_daily ends"]["at"] == "2026-03-10T12:06:30Z"
    assert not said["by_hour fires"]["about"]
    assert said["wait_at_most of delays_by_weather_nightly ends"]["at"] == "2026-03-10T14:20:00Z"


def test_a_dead_engine_is_said_first_and_what_to_do(server: Served) -> None:
    deployed(server, SPEC)
    fill(server.store, server.now, server.now - timedelta(hours=1))
    view = shown(server, "/")
    assert view["engine"]["dead"]
    assert view["sentence"].startswith("As of 2026-03-10 11:00:00Z: 2 jobs failed")
    html = server.client.get("/", headers=HTML).text
    assert html.index("The engine does not tick") < html.index("<h1>")
    assert "60 minutes ago" in html
    assert "Dagster cannot be asked from here." in html
    assert str(server.service.settings.project) not in html
    assert 'href="#what-to-do"' in html and 'id="what-to-do"' in html
    assert "tidegate doctor" in html


def test_an_app_on_hold_is_said_with_who_and_until_when(night: Served) -> None:
    body = {"reason": "the lake is down", "expires": "4h"}
    assert night.client.post(f"{NS}/apps/{APP}/hold", json=body).status_code == 200
    assert tiles(shown(night, "/"))["held"]["line"].startswith(f"app {APP}, by rest")
    html = night.client.get("/", headers=HTML).text
    assert f"Nothing of app {APP} is launched" in html and "the lake is down" in html


def test_without_scripts_the_time_line_is_a_table_of_runs_and_next_instants(night: Served) -> None:
    html = unescape(night.client.get("/", headers=HTML).text)
    assert 'aria-label="Runs and next instants"' in html
    assert "runs 2013-12-20" in html
    assert "usually until 08:06" in html
    assert "window opens 22:00" in html
    assert "wait_at_most 2013-12-21 10:20" in html


def test_the_address_narrows_the_time_line_and_its_links_keep_it(night: Served) -> None:
    query = "/?from=-2h&to=%2B4h&q=clean&state=running"
    line = shown(night, query)["time_line"]
    assert [lane["ref"] for app in line["apps"] for lane in app["lanes"]] == [f"{APP}/clean_flights_daily"]
    html = unescape(night.client.get(query, headers=HTML).text)
    assert 'href="/?from=-2h&to=%2B4h&q=clean&state=running&state=late#time-line"' in html
    assert 'href="/?from=-2h&to=%2B4h&q=clean#time-line"' in html
    assert 'value="clean"' in html
    assert night.client.get("/?from=odd", headers=HTML).status_code == 400
    assert "No lane matches." in night.client.get("/?q=none", headers=HTML).text


def test_hostile_names_are_text(night: Served) -> None:
    with night.store.transaction() as transaction:
        failed = {"state": JobState.FAILED, "reason": Reason.F_RUN, "ended_at": night.now, "detail": HOSTILE}
        waits = {"state": JobState.PENDING_CONSTRAINT, "reason": Reason.W_CONCURRENCY}
        transaction.put_jobs(
            [
                job(f"1{HOSTILE}", f"{APP}/{HOSTILE}", key=HOSTILE, opened_at=night.now, **failed),
                job(f"2{HOSTILE}", f"{APP}/{HOSTILE}", key=HOSTILE, blocked_on=HOSTILE, **waits),
            ]
        )
    html = night.client.get(f"/?q={HOSTILE}", headers=HTML).text
    assert HOSTILE not in html
    assert "&lt;script&gt;" in html


def test_the_page_asks_as_much_for_many_jobs_as_for_few(night: Served) -> None:
    assert isinstance(night.store, SqlStore)
    engine = night.store.engine

    def asked() -> int:
        statements: list[object] = []
        with listening(engine, lambda *given: statements.append(given[2])):
            assert night.client.get("/", headers=HTML).status_code == 200
        return len(statements)

    def add(numbers: range) -> None:
        ended = {"state": JobState.FAILED, "reason": Reason.F_RUN, "ended_at": night.now}
        waits = {"state": JobState.PENDING_CONSTRAINT, "reason": Reason.W_WINDOW}
        with night.store.transaction() as transaction:
            transaction.put_jobs(
                [job(f"f{n}", f"{APP}/clean_flights_daily", key=DAYS[0], **ended) for n in numbers]
                + [job(f"w{n}", f"{APP}/delays_by_weather_nightly", key=DAYS[0], **waits) for n in numbers]
            )

    # What helps is asked for each of those that need a person, and so many are shown at most.
    add(range(NEEDS_MAX))
    few = asked()
    add(range(NEEDS_MAX, 300))
    assert asked() <= few


def test_nothing_of_the_page_is_read_twice(night: Served) -> None:
    read: list[str] = []
    assert isinstance(night.store, SqlStore)
    with listening(night.store.engine, lambda *given: read.append(f"{given[2]} {given[3]}")):
        assert night.client.get("/", headers=HTML).status_code == 200
    counts = [each for each in read if "count(*)" in each or "late_periods" in each]
    assert counts and len(counts) == len({*counts})
