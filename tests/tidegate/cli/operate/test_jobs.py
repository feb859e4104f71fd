"""`tidegate jobs`, `events`, `ledger` and `why`: the waiting jobs, the events and their results."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.tidegate.project import Project
from tidegate.cli.operate import jobs
from tidegate.scheduler.intake.report import RefusedReport, note_refused
from tidegate.scheduler.launch.outbox import OFFERS_MAX, offer_launches, reject
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.tick.tick import tick

pytestmark = pytest.mark.slow  # whole commands


def job_id(project: Project) -> str:
    return project.json("jobs", "list")[0]["id"]


def test_an_empty_queue_says_so(deployed: Project) -> None:
    assert "No jobs in the queue" in deployed.run("jobs", "list")
    assert deployed.run("jobs", "list", "--all") == "No jobs.\n"
    assert deployed.json("jobs", "list") == []
    assert deployed.run("events", "list") == "No events.\n"
    assert deployed.run("ledger") == "No event has been delivered to a schedule yet.\n"


def test_the_queue_shows_what_waits_and_why(deployed: Project) -> None:
    deployed.arrive("2026-03-09")
    printed = deployed.run("jobs", "list")
    assert "sales/report_daily" in printed
    assert "PENDING_TRIGGER" in printed
    assert "W-TRIGGER" in printed
    assert deployed.json("jobs", "list", "--state", "launched") == []
    assert len(deployed.json("jobs", "list", "--schedule", "report_daily", "--state", "pending_trigger")) == 1


@pytest.mark.parametrize("width", ["40", "80", "200"])
def test_the_queue_fits_a_terminal_and_shows_what_names_the_job(
    deployed: Project, monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    deployed.arrive("2026-03-09")
    whole = deployed.json("jobs", "list")[0]["id"]
    monkeypatch.setenv("COLUMNS", width)
    printed = deployed.run("jobs", "list")
    assert max(map(len, printed.splitlines())) <= int(width)
    (short,) = [word for word in printed.split() if word in whole and len(word) == 8]
    assert whole.endswith(f"-{short}{whole[-4:]}")
    assert " ".join(printed.split()).count("waits for") == 1
    assert whole in deployed.run("jobs", "list", "--wide").splitlines()[2]
    for command in (("jobs", "show"), ("why",), ("events", "list", "--job"), ("jobs", "cancel")):
        assert deployed.run(*command, short)


def test_a_list_as_lines_with_tabs_has_all_fields_and_no_tab_or_line_end_in_a_value(
    deployed: Project,
) -> None:
    assert deployed.run("jobs", "list", "--format", "tsv").count("\n") == 1
    deployed.arrive("2026-03-09")
    (found,) = deployed.json("jobs", "list")
    deployed.run("jobs", "cancel", found["id"], "--reason", "two\nlines\tand a tab")
    head, row = deployed.run("jobs", "list", "--all", "--format", "tsv").splitlines()
    names, values = head.split("\t"), row.split("\t")
    assert names == [*found]
    of = dict(zip(names, values, strict=True))
    assert (of["id"], of["state"], of["operation"]) == (found["id"], "DISCARDED", "")
    refused = deployed.run_with_errors("jobs", "show", found["id"], "--format", "tsv", exit_code=64)
    assert "'tsv' is for lists: write 'text' or 'json'" in refused


def test_show_tells_what_a_job_has_collected_and_its_history(deployed: Project) -> None:
    deployed.arrive("2026-03-09", "2026-03-10")
    job = job_id(deployed)
    printed = deployed.run("jobs", "show", job)
    assert "PENDING_LAUNCH" in printed
    assert "orders: 2026-03-09, 2026-03-10" in printed
    assert "partition:sales/orders" in printed
    assert "job-opened" in printed
    found = deployed.json("jobs", "show", job[:-2])
    assert found["job"]["id"] == job
    assert [each["event"]["partition"] for each in found["collected"]] == ["2026-03-09", "2026-03-10"]


def test_show_prints_the_last_events_of_a_job_that_holds_many(
    deployed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "ROWS_SHOWN", 1)
    deployed.arrive("2026-03-09", "2026-03-10")
    job = job_id(deployed)
    newest = deployed.run("jobs", "show", job).partition("Collected: the newest, and 1 before them; ")[2]
    collected, _, history = newest.partition("History:")
    assert "2026-03-10" in collected and "2026-03-09" not in collected
    assert history.startswith(" the newest 1; --all shows all")
    assert "job-opened" not in history
    _, _, whole = deployed.run("jobs", "show", job, "--all").partition("Collected:\n")
    assert "2026-03-09" in whole and "job-opened" in whole


def test_cancel_discards_a_waiting_job_and_nothing_else(deployed: Project) -> None:
    deployed.arrive("2026-03-09")
    job = job_id(deployed)
    assert "is discarded: D-CANCELLED" in deployed.run("jobs", "cancel", job)
    assert "DISCARDED" in deployed.refused("jobs", "cancel", job).message
    assert "D-CANCELLED" in deployed.run("ledger")


def dead_letter(project: Project) -> str:
    """A job of which no run could be made. Its back-off takes hours, in which no cron may fire."""
    project.run("schedules", "suspend", "report_at_six")
    project.arrive("2026-03-09", "2026-03-10")
    store, now = project.store(), datetime.now(UTC)
    for offer in range(OFFERS_MAX):
        at = now + timedelta(hours=offer)
        tick(store, at)
        with store.transaction() as transaction:
            (request,) = offer_launches(transaction, at, "sales")
            reject(transaction, request.job, 1, "no partition 2026-03-09 of report", at)
    store.close()
    (job,) = project.json("jobs", "list", "--dead-letters")
    return job["id"]


def test_dead_letters_are_listed_with_what_was_wrong(deployed: Project) -> None:
    assert deployed.run("jobs", "list", "--dead-letters") == "No dead letters.\n"
    job = dead_letter(deployed)
    printed = deployed.run("jobs", "list", "--dead-letters", "--schedule", "report_daily")
    assert printed.count(job[-12:-4]) == 1 and job not in printed
    assert "no partition 2026-03-09 of report" in printed
    assert deployed.json("jobs", "list", "--dead-letters", "--schedule", "report_at_six") == []


def test_a_dead_letter_is_queued_again_by_its_id(deployed: Project) -> None:
    job = dead_letter(deployed)
    printed = deployed.run("jobs", "requeue", job[:-2], "--reason", "the partition is declared")
    assert printed == f"job {job} of sales/report_daily is queued again, attempt 2\n"
    assert deployed.run("jobs", "list", "--dead-letters") == "No dead letters.\n"
    assert "the partition is declared" in str(deployed.json("jobs", "show", job)["history"])
    assert "is not a dead letter: it is" in deployed.refused("jobs", "requeue", job).message


def test_all_dead_letters_are_queued_again(deployed: Project) -> None:
    job = dead_letter(deployed)
    assert f"job {job} of" in deployed.run("jobs", "requeue", "--all-dead-letters")
    assert deployed.run("jobs", "requeue", "--all-dead-letters") == "No dead letters to queue again.\n"


def test_letters_of_a_deleted_schedule_are_left_and_said_so(deployed: Project) -> None:
    dead_letter(deployed)
    deployed.edit("  report_daily:", "  report_other:")
    deployed.run("deploy")
    assert deployed.run("jobs", "requeue", "--all-dead-letters") == (
        "No dead letters to queue again.\n1 not requeued: their schedules are not deployed.\n"
    )


def test_requeue_needs_to_know_which(deployed: Project) -> None:
    assert "--all-dead-letters" in deployed.refused("jobs", "requeue").message
    assert "not both" in deployed.refused("jobs", "requeue", "x", "--all-dead-letters").message


def test_an_unknown_job_is_refused_with_the_closest(deployed: Project) -> None:
    deployed.arrive("2026-03-09")
    job = job_id(deployed)
    error = deployed.refused("jobs", "show", f"x{job[1:]}")
    assert error.hint == f'did you mean "{job}"?'


def test_events_tell_what_became_of_them(deployed: Project) -> None:
    deployed.arrive("2026-03-09")
    printed = deployed.run("events", "list")
    assert "partition:sales/orders" in printed
    assert "1,000" in printed
    assert "sales/report_daily PENDING_TRIGGER W-TRIGGER" in printed
    assert "sales/report_by_day DISCARDED D-SUSPENDED" in printed
    (found,) = deployed.json("events", "list", "--key", "partition:sales/")
    assert found["partition"] == "2026-03-09"
    assert {(d["schedule"], d["reason"]) for d in found["deliveries"]} == {
        ("sales/report_by_day", "D-SUSPENDED"),
        ("sales/report_daily", "W-TRIGGER"),
    }
    assert deployed.json("events", "list", "--key", "run:") == []


def test_events_are_found_by_what_they_are_and_by_what_became_of_them(deployed: Project) -> None:
    deployed.arrive("2026-03-08", "2026-03-09")
    (job,) = deployed.json("jobs", "list", "--schedule", "report_daily")

    def found(*options: str) -> list[str]:
        return [each["partition"] for each in deployed.json("events", "list", *options)]

    both = found("--schedule", "report_daily", "--outcome", "pending")
    assert sorted(both) == ["2026-03-08", "2026-03-09"]
    for options in (
        ("--dataset", "orders"),
        ("--job", job["id"][:-1]),
        ("--schedule", "sales/report_by_day", "--outcome", "DISCARDED"),
        ("--reason", "d-suspended"),
        ("--from", "2020-01-01T00:00Z", "--until", "2100-01-01T00:00Z"),
    ):
        assert found(*options) == both
    assert found("--dataset", "sales/orders", "--partition", "2026-03-08") == ["2026-03-08"]
    assert found("--dataset", "orders", "--outcome", "failed") == []
    assert found("--until", "2020-01-01T00:00Z") == []
    assert deployed.run("events", "list", "--outcome", "failed") == "No events that match.\n"
    assert "outcome" in deployed.json("events", "list")[0]["deliveries"][0]
    assert deployed.refused("events", "list", "--dataset", "order").hint == 'did you mean "orders"?'


def test_events_that_no_tick_has_routed_yet_say_so(deployed: Project) -> None:
    store, now = deployed.store(), datetime.now(UTC)
    orders, nothing = partition_event_key("sales", "orders"), partition_event_key("sales", "report")
    for key in (orders, nothing):
        kind = EventKind.PARTITION
        event = Event(id=key, kind=kind, key=key, time=now, arrived=now, partition="2026-03-09")
        with store.transaction() as transaction:
            transaction.add_events([event])
    assert deployed.run("events", "list").count("not routed yet") == 2
    assert [each["routed"] for each in deployed.json("events", "list")] == [False, False]
    tick(store, now + timedelta(seconds=1))
    printed = deployed.run("events", "list")
    assert "not routed yet" not in printed
    assert printed.count("no schedule listens") == 1
    assert [each["routed"] for each in deployed.json("events", "list")] == [True, True]
    store.close()


def test_refused_reports_are_listed_with_the_reason_in_the_order_of_time(deployed: Project) -> None:
    deployed.arrive("2026-03-09")
    store, now = deployed.store(), datetime.now(UTC)
    key = partition_event_key("sales", "ordres")
    report = RefusedReport(id="r", at=now, key=key, partition="x", reason="app sales has no dataset ordres")
    with store.transaction() as transaction:
        note_refused(transaction, [report, report])
    store.close()
    printed = deployed.run("events", "list")
    assert printed.count("refused: app sales has no dataset ordres") == 1
    found = deployed.json("events", "list")
    assert sorted((each["key"], each["refused"]) for each in found) == [
        ("partition:sales/orders", None),
        (key, report.reason),
    ]
    assert "refused" in deployed.run("events", "list", "--key", key)
    assert deployed.json("events", "list", "--key", "partition:sales/orders") == [
        each for each in found if each["refused"] is None
    ]


def test_the_ledger_balances(deployed: Project) -> None:
    deployed.arrive("2026-03-09")
    deployed.run("jobs", "cancel", job_id(deployed))
    deployed.arrive("2026-03-10")
    assert deployed.json("ledger") == [
        {
            "schedule": "sales/report_by_day",
            "landed": 2,
            "consumed": 0,
            "succeeded": 0,
            "running": 0,
            "failed": 0,
            "pending": 0,
            "discarded": 2,
            "failures": {},
            "reasons": {"D-SUSPENDED": 2},
        },
        {
            "schedule": "sales/report_daily",
            "landed": 2,
            "consumed": 0,
            "succeeded": 0,
            "running": 0,
            "failed": 0,
            "pending": 1,
            "discarded": 1,
            "failures": {},
            "reasons": {"D-CANCELLED": 1},
        },
    ]
    printed = deployed.run("ledger", "--app", "sales")
    assert "1 D-CANCELLED" in printed


def test_why_draws_the_condition_tree_with_the_lines_of_the_yaml(deployed: Project) -> None:
    deployed.arrive("2026-03-09")
    printed = deployed.run("why", "report_daily")
    assert "sales/report_daily (active): W-TRIGGER" in printed
    assert "unmet partitions: " in printed
    assert "met   concurrency: " in printed
    assert "schedules/sales.yaml:14" in printed
    (found,) = deployed.json("why", "sales/report_daily")
    assert found["trigger"]["met"] is False
    assert found["constraints"][0]["kind"] == "concurrency"


def test_why_of_a_job_by_its_id_and_of_a_schedule_that_is_suspended(deployed: Project) -> None:
    deployed.arrive("2026-03-09")
    job = job_id(deployed)
    assert f"job {job}, PENDING_TRIGGER" in deployed.run("why", job)
    assert "suspended: events are ignored" in deployed.run("why", "report_by_day")


def test_why_shows_a_key_in_brackets_as_it_is(deployed: Project) -> None:
    deployed.run("schedules", "resume", "report_by_day")
    deployed.arrive("2026-03-09")
    job = deployed.json("jobs", "list", "--schedule", "report_by_day")[0]["id"]
    assert "sales/report_by_day[2026-03-09] (active)" in deployed.run("why", job)
