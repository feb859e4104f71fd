"""The pages of schedules, tasks, jobs and instances: answer, conditions, YAML with states, runs and log."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tests.server.board.board import DAYS, HTML, job_of, report, shown
from tests.server.sales import SPEC, deployed
from tests.server.serving import NOON, NS, Served
from tests.server.shop import THIRTEEN, shop
from tests.worlds.samples import event, run
from tidegate.processes.run_log import BYTES_MAX, LINES_MAX, read_log
from tidegate.scheduler.explain.answer import deepest_cause
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.records.token import Role
from tidegate.scheduler.model.run import Run, RunStatus
from tidegate.server.board.runs import HEIGHT, RUNS_SHOWN

pytestmark = [pytest.mark.store]

EACH_DAY = "/board/schedules/sales/each_day"
RUN = "6f1c5a1e-0a52-4a36-9b6e-0f6a34f0a111"


def test_the_answer_is_a_sentence_with_its_moment(board: Served):
    view = shown(board, EACH_DAY)
    says = view["answer"]["says"]
    assert (says["text"], says["at"]) == ("Ready. It starts when the window opens", "2026-03-10T22:00:00Z")
    assert view["answer"]["code"] == "W-WINDOW"
    html = board.client.get(EACH_DAY, headers=HTML).text
    assert "Ready. It starts when the window opens" in html and 'datetime="2026-03-10T22:00:00+00:00"' in html


def test_each_open_job_has_its_answer_behind_a_link(board: Served):
    report(board, ("2026-03-05",))
    board.pass_time(timedelta(minutes=1))
    view = shown(board, EACH_DAY)
    assert {each["key"] for each in view["tabs"]} == {DAYS[1], "2026-03-05"}
    assert sum(each["chosen"] for each in view["tabs"]) == 1
    other = next(each for each in view["tabs"] if not each["chosen"])
    chosen = shown(board, f"{EACH_DAY}?job={other['job']}")
    assert chosen["explanations"][0]["job"]["id"] == other["job"]
    assert f"{EACH_DAY}?job={other['job']}" in board.client.get(EACH_DAY, headers=HTML).text
    # A job that is gone, or of another schedule, is none of them.
    assert shown(board, f"{EACH_DAY}?job=%3Cscript%3E")["explanations"] == view["explanations"]


def forecasts(board: Served, path: str) -> list[tuple[str, str]]:
    return [(each["text"], each["at"]) for each in shown(board, path)["forecast"]]


def test_the_answer_says_when_a_schedule_fires_next(board: Served):
    path = "/board/schedules/sales/daily"
    assert forecasts(board, path) == [("It fires next", "2026-03-11T06:00:00Z")]
    html = board.client.get(path, headers=HTML).text
    assert html.count("It fires next") == 1 and "It is looked at next" not in html
    assert forecasts(board, EACH_DAY) == [], "nothing of it is exact, and nothing is usual yet"


@pytest.mark.parametrize(("days", "known"), [(5, True), (4, False)])
def test_the_answer_says_when_data_usually_comes(board: Served, days: int, known: bool):
    with board.store.transaction() as transaction:
        transaction.drop_jobs([job.id for job in transaction.jobs()])
        landed = [
            event(f"e{n}", -24 * 60 * n + 15 * (n % 2), key="partition:sales/raw", partition=f"2026-03-0{n}")
            for n in range(1, days + 1)
        ]
        transaction.add_events(landed)
        transaction.mark_routed([each.id for each in landed])
    text = "sales/raw came between 12:00 and 12:15 on the last 5 days; it comes again"
    # Today's has come already: the board's own reports landed at noon.
    expected = [(text, "2026-03-11T12:00:00Z")] if known else []
    assert forecasts(board, EACH_DAY) == expected


@pytest.mark.parametrize(("past", "known"), [(5, True), (4, False)])
def test_the_answer_says_when_a_run_at_work_usually_ends(board: Served, past: int, known: bool):
    began = board.now - timedelta(minutes=10)
    with board.store.transaction() as transaction:
        (job,) = transaction.jobs(ids=[job_of(board, DAYS[1])])
        at_work = {"state": JobState.LAUNCHED, "reason": None, "launched_at": began, "run_id": "r2"}
        ended = {"state": JobState.SUCCEEDED, "reason": None, "launched_at": NOON, "ended_at": NOON}
        older = [f"past-{n}" for n in range(past)]
        transaction.put_jobs(
            [replace(job, **at_work), *(replace(job, id=id, run_id=id, **ended) for id in older)]
        )
        took = {"started_at": NOON - timedelta(minutes=10), "ended_at": NOON}
        runs = [run(id, RunStatus.SUCCEEDED, job=id, **took) for id in older]
        transaction.put_runs([run("r2", job=job.id, started_at=began), *runs])
    path = f"{EACH_DAY}?job={job.id}"
    text = "By the median of its last runs it usually ends"
    assert forecasts(board, path) == ([(text, "2026-03-10T12:02:00Z")] if known else [])
    if known:
        board.pass_time(timedelta(minutes=1))
        assert "would usually have ended" in shown(board, path)["forecast"][0]["text"]


def test_conditions_count_their_parts_as_numbers(board: Served):
    trigger = {
        "all": [{"partitions": {"dataset": "raw", "count": 3}}, {"partitions": {"dataset": "cleaned"}}]
    }
    both = {"program": "report", "trigger": {**trigger, "wait_at_most": "3h"}, "status": "active"}
    deployed(board, {**SPEC, "schedules": {**SPEC["schedules"], "both": both}})
    board.pass_time(timedelta(minutes=1))
    report(board, ("2026-03-01", "2026-03-02"))
    board.pass_time(timedelta(minutes=1))

    view = shown(board, "/board/schedules/sales/both")

    (root,) = view["conditions"]
    assert (root["title"], root["have"], root["of"]) == ("all of these", 0, 2)
    assert [(each["have"], each["of"], each["state"]) for each in root["parts"]] == [
        (2, 3, "waiting"),
        (0, 1, "waiting"),
    ]
    assert view["answer"]["says"]["text"] == "Waits for 1 more new partition of raw, and 1 more condition"
    assert view["answer"]["then"]["text"] == "Without that, its trigger is met"
    marks = {line["text"].strip(): (line["state"], line["note"]) for line in view["yaml"] if line["state"]}
    assert marks["all:"] == ("waiting", "not before")
    assert marks["- partitions: {dataset: raw, count: 3}"] == ("waiting", "2 of 3")
    assert marks["- partitions: {dataset: cleaned}"] == ("waiting", "0 of 1")
    assert marks["wait_at_most: 3h"][1] == "ends"
    (tree,) = board.client.get(f"{NS}/apps/sales/schedules/both/why").json()
    numbers = [[each[name] for name in ("have", "need", "unit")] for each in tree["trigger"]["parts"]]
    assert numbers == [[2, 3, "partitions"], [0, 1, "partitions"]]
    html = board.client.get("/board/schedules/sales/both", headers=HTML).text
    assert '<progress max="3" value="2"' in html and "style=" not in html


def test_the_yaml_is_laid_out_as_fmt_does_it(board: Served):
    lines = [line["text"] for line in shown(board, EACH_DAY)["yaml"]]
    assert lines[0] == "each_day:"
    assert lines.index("  for_each: day") == lines.index("  trigger:") - 1 or "  trigger: {" in lines[2]
    window = next(each for each in shown(board, EACH_DAY)["yaml"] if "window" in each["text"])
    assert (window["state"], window["note"], window["at"]) == ("waiting", "opens", "2026-03-10T22:00:00Z")


def ran(board: Served, key: str, minutes: int, state: JobState = JobState.SUCCEEDED) -> None:
    """Let a job have run for so long."""
    with board.store.transaction() as transaction:
        (job,) = transaction.jobs(ids=[job_of(board, key)])
        launched = board.now - timedelta(minutes=minutes)
        ended = None if state is JobState.LAUNCHED else board.now
        transaction.put_jobs([replace(job, state=state, launched_at=launched, ended_at=ended, reason=None)])


def test_the_last_runs_are_bars_with_their_numbers(board: Served):
    report(board, ("2026-03-01", "2026-03-02"))
    board.pass_time(timedelta(minutes=30))
    ran(board, "2026-03-01", 10)
    ran(board, "2026-03-02", 20, JobState.FAILED)
    ran(board, DAYS[1], 4, JobState.LAUNCHED)

    runs = shown(board, EACH_DAY)["runs"]

    bars = {each["key"]: each for each in runs["bars"]}
    assert (runs["succeeded"], runs["ended"], len(bars)) == (1, 2, 3)
    assert (bars["2026-03-02"]["height"], bars["2026-03-02"]["y"]) == (HEIGHT, 0)
    assert bars["2026-03-01"]["height"] == HEIGHT // 2
    assert (runs["median"], runs["longest"]) == ("PT900S", "PT1200S")
    html = board.client.get(EACH_DAY, headers=HTML).text
    assert "1 of 3" in html and 'aria-label="2026-03-02: failed, 20 min' in html
    # Without scripts and pictures there is a table of the same.
    assert 'aria-label="Last runs of sales/each_day"' in html


def test_no_more_runs_are_read_than_are_shown(board: Served):
    with board.store.transaction() as transaction:
        (job,) = transaction.jobs(ids=[job_of(board, DAYS[0])])
        done = {"state": JobState.SUCCEEDED, "launched_at": board.now, "ended_at": board.now, "reason": None}
        transaction.put_jobs(
            [
                replace(
                    job, id=f"sales.each_day-{n:012x}", opened_at=board.now + timedelta(seconds=n), **done
                )
                for n in range(RUNS_SHOWN + 10)
            ]
        )
    assert len(shown(board, EACH_DAY)["runs"]["bars"]) == RUNS_SHOWN


ERROR = (
    "Job aborted\nCaused by: a task failed\nCaused by: clean_weather has no column visib\n  at flights.py:188"
)


def failed(board: Served, detail: str) -> str:
    """Let the failed job of the board have this error, and a run; return its page."""
    with board.store.transaction() as transaction:
        (job,) = transaction.jobs(ids=[job_of(board, DAYS[0])])
        transaction.put_jobs([replace(job, detail=detail, run_id=RUN, launched_at=board.now)])
        run = Run(
            run_id=RUN,
            program="sales/clean",
            job=job.id,
            attempt=1,
            status=RunStatus.FAILED,
            seen_at=board.now,
            started_at=board.now - timedelta(minutes=9),
            ended_at=board.now,
        )
        transaction.put_runs([run])
    return f"/board/jobs/{job.id}"


def test_a_failed_job_says_its_deepest_cause_once_and_offers_to_retry(board: Served):
    path = failed(board, ERROR)
    view = shown(board, path)
    assert view["answer"]["says"]["text"] == "clean_weather has no column visib"
    assert view["answer"]["error"] == ERROR
    assert view["main"]["name"] == "retry"
    html = board.client.get(path, headers=HTML).text
    assert html.count("Job aborted") == 1
    assert [(each["attempt"], each["sign"]) for each in view["stretches"]][-1] == (1, "failed")
    assert sum(each["share"] for each in view["stretches"]) >= 1


@pytest.mark.parametrize(
    ("error", "cause"), [("one line", "one line"), ("a\nCaused by: b", "b"), ("", ""), ("\n\n x \ny", "x")]
)
def test_the_deepest_cause_is_the_last_one(error: str, cause: str):
    assert deepest_cause(error) == cause


def logged(board: Served, content: bytes, run: str = RUN) -> Path:
    folder = board.service.settings.dagster_home / "storage" / run / "compute_logs"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "step.err").write_bytes(content)
    return folder


@pytest.fixture(autouse=True)
def no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of Dagster is that of the settings."""
    monkeypatch.delenv("DAGSTER_HOME", raising=False)


def test_a_job_shows_the_end_of_its_log_to_whom_may_operate(board: Served):
    path = failed(board, "broken")
    assert shown(board, path)["log"] is None
    logged(board, b"<script>alert(1)</script>\nERROR \xff\xfe no UTF-8\n" + b"x\n" * 300)
    log = shown(board, path)["log"]
    assert (len(log["lines"]), log["whole"]) == (LINES_MAX, False)
    logged(board, b"<script>alert(1)</script>\nERROR \xff no UTF-8\n")
    html = board.client.get(path, headers=HTML).text
    assert "&lt;script&gt;alert(1)" in html and "<script>alert(1)" not in html and "\ufffd no UTF-8" in html
    reader = board.of(board.token(Role.READ))
    answer = reader.get(path, params={"format": "json"})
    assert (answer.status_code, answer.json()["log"]) == (200, None)
    assert "no UTF-8" not in reader.get(path, headers=HTML).text


def test_a_huge_log_is_read_from_its_end_only(board: Served, monkeypatch: pytest.MonkeyPatch):
    folder = logged(board, b"")
    with (folder / "step.err").open("wb") as stream:
        stream.truncate(3_000_000_000)
        stream.seek(0, 2)
        stream.write(b"\nthe last line\n")
    found = read_log(board.service.settings, RUN)
    assert found is not None and found.lines[-1] == "the last line" and not found.whole
    assert sum(map(len, found.lines)) <= BYTES_MAX


def test_only_a_file_of_a_run_in_the_folder_is_read(board: Served, tmp_path: Path):
    settings = board.service.settings
    secret = tmp_path / "secret.err"
    secret.write_text("secret")
    folder = logged(board, b"own")
    (folder / "step.err").unlink()
    (folder / "step.err").symlink_to(secret)
    assert read_log(settings, RUN) is None
    for name in ("../../secret", "", "..", RUN.upper(), "x" * 36):
        logged(board, b"secret", name)
        assert read_log(settings, name) is None, name
    other = "0" * 8 + RUN[8:]
    logged(board, b"own", other)
    logged(board, b"secret", f"{other}/../..")
    for name in (other, f"{other}/../.."):
        found = read_log(settings, name)
        assert found is not None and found.lines == ("own",), name
    (settings.dagster_home / "dagster.yaml").write_text(
        "compute_logs: {module: m, class: S3ComputeLogManager}"
    )
    assert read_log(settings, other) is None


def test_a_job_names_what_goes_on_after_it(server: Served):
    shop(server)
    with server.store.reading() as reader:
        (job,) = [each for each in reader.jobs() if (each.schedule, each.key) == ("shop/clean", THIRTEEN)]
        consumers = reader.consumers([job.id])
    view = shown(server, f"/board/jobs/{job.id}")
    assert {each["path"] for each in view["stops"]} == {f"/board/jobs/{id_}" for id_ in consumers}
    task = shown(server, "/board/schedules/shop/clean")
    assert task["tabs"] and task["answer"]["says"]["text"]


def test_the_schedules_that_the_data_of_a_job_starts_are_named(board: Served):
    after: dict[str, Any] = {"program": "report", "trigger": {"partitions": {"dataset": "cleaned"}}}
    deployed(board, {**SPEC, "schedules": {**SPEC["schedules"], "after": after}})
    view = shown(board, f"/board/jobs/{job_of(board, DAYS[1])}")
    assert [each["name"] for each in view["stops"]] == ["sales/after"]
    assert msgspec.json.encode(view)
