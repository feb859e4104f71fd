"""`tidegate import cdap`: what each part of a schedule becomes, and what stays a comment."""

import json
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from tests.tidegate.project import Project
from tidegate.cli.main import application
from tidegate.compiler.layout import format_file
from tidegate.domain.error import UserError
from tidegate.project.other_schedulers.cdap_app import compiled, read_cdap
from tidegate.scheduler.simulation.play import play

DAILY: dict[str, Any] = {
    "namespace": "default",
    "application": "Purchases",
    "applicationVersion": "-SNAPSHOT",
    "name": "DailySchedule",
    "description": "each day at four",
    "program": {"programName": "load", "programType": "WORKFLOW"},
    "properties": {},
    "trigger": {"type": "TIME", "cronExpression": "0 4 * * ?"},
    "constraints": [],
    "timeoutMillis": 3_600_000,
    "status": "SCHEDULED",
}
PARTITION = {
    "type": "PARTITION",
    "dataset": {"namespace": "default", "dataset": "rawData"},
    "numPartitions": 1,
}
ELSEWHERE = {"type": "PARTITION", "dataset": {"namespace": "other", "dataset": "rawData"}, "numPartitions": 1}
TIME = {"type": "TIME", "cronExpression": "0 0 4 ? * 1"}


def runs(*statuses: str, program: str = "feed", type: str = "WORKFLOW") -> dict[str, Any]:
    """A trigger of the runs of a program."""
    id = {"namespace": "default", "application": "Feeds", "type": type, "program": program}
    return {"type": "PROGRAM_STATUS", "programId": id, "programStatuses": list(statuses)}


def translated(*schedules: Any) -> tuple[dict[str, Any], str]:
    """Translate schedules; return the content and the text of the YAML: it is clean, its scenarios hold."""
    found = read_cdap(json.dumps(schedules).encode(), "legacy")
    text = found.text()
    app, wrong = compiled(found)
    assert not wrong and app is not None
    assert format_file("legacy.yaml", text.encode())[0] == text
    assert text.count("# not translated: ") == found.not_translated
    assert len(app.scenarios) == found.schedules
    for scenario in app.scenarios:
        assert play(scenario, app).failures == ()
    return yaml.safe_load(text), text


def schedule_of(**changed: Any) -> dict[str, Any]:
    """Return the only schedule of a translation."""
    content, _ = translated({**DAILY, **changed})
    (found,) = content["schedules"].values()
    return found


def test_a_schedule_is_one_with_its_workflow_as_a_job(project: Project) -> None:
    (project.folder / "cdap.json").write_text(json.dumps(DAILY))

    result = CliRunner().invoke(application, ["import", "cdap", "cdap.json", "--app", "legacy"])

    assert (result.exit_code, result.stderr) == (0, "1 schedule, 0 not translated\n")
    assert (
        result.stdout
        == """\
app: legacy
# CDAP takes the zone of its server for the crons. Write that zone here.
timezone: UTC

programs:
  load: {job: load}

schedules:
  daily_schedule:
    description: "each day at four"
    program: load
    trigger: {cron: "0 4 * * *"}
    timeout: {after: 1h, from: first_event}
    status: active

examples:
  - name: "daily_schedule starts once its trigger and its constraints hold"
    start: "2026-01-01T03:59:30+00:00"
    expect: [{at: +30s, launch: daily_schedule}]
    expect_only: [daily_schedule]
"""
    )


@pytest.mark.parametrize(
    ("trigger", "ours"),
    [
        (TIME, {"cron": "0 4 * * 0"}),
        (PARTITION, {"partitions": {"dataset": "raw_data", "count": 1}}),
        (
            {**PARTITION, "numPartitions": 4},
            {"partitions": {"dataset": "raw_data", "count": 4, "distinct": False}},
        ),
        (runs("COMPLETED"), {"run": {"program": "feed", "status": "succeeded"}}),
        (runs("FAILED"), {"run": {"program": "feed", "status": "failed"}}),
        (runs("KILLED", type="Workflow"), {"run": {"program": "feed", "status": "cancelled"}}),
        (runs("RUNNING"), {"run": {"program": "feed", "status": "started"}}),
        (
            runs("COMPLETED", "KILLED"),
            {
                "any": [
                    {"run": {"program": "feed", "status": "succeeded"}},
                    {"run": {"program": "feed", "status": "cancelled"}},
                ]
            },
        ),
        (
            {"type": "AND", "triggers": [TIME, {"type": "OR", "triggers": [PARTITION, runs("FAILED")]}]},
            {
                "all": [
                    {"cron": "0 4 * * 0"},
                    {
                        "any": [
                            {"partitions": {"dataset": "raw_data", "count": 1}},
                            {"run": {"program": "feed", "status": "failed"}},
                        ]
                    },
                ]
            },
        ),
        ({"type": "OR", "triggers": [PARTITION]}, {"partitions": {"dataset": "raw_data", "count": 1}}),
    ],
)
@pytest.mark.parametrize("status", ["SCHEDULED", "SUSPENDED"])
def test_a_trigger_is_the_same_here(trigger: Any, ours: Any, status: str) -> None:
    assert schedule_of(trigger=trigger, status=status)["trigger"] == ours


@pytest.mark.parametrize(
    ("constraint", "ours"),
    [
        (
            {"type": "CONCURRENCY", "maxConcurrency": 2, "waitUntilMet": True},
            {"concurrency": {"max": 2}},
        ),
        ({"type": "CONCURRENCY", "maxConcurrency": 2}, {"concurrency": {"max": 2, "otherwise": "skip"}}),
        (
            {"type": "DELAY", "millisAfterTrigger": 600_000, "waitUntilMet": False},
            {"delay": {"for": "10m", "from": "first_event"}},
        ),
        (
            {"type": "LAST_RUN", "millisSinceLastRun": 1_500, "waitUntilMet": True},
            {"since_last_run": {"for": "1.5s", "measured_from": "end"}},
        ),
        (
            {"type": "LAST_RUN", "millisSinceLastRun": 3_600_000, "waitUntilMet": False},
            {"since_last_run": {"for": "1h", "measured_from": "end", "otherwise": "skip"}},
        ),
        (
            {"type": "TIME_RANGE", "startTime": "3:00", "endTime": "06:00", "timeZone": "UTC"},
            {"window": {"from": "03:00", "to": "06:00", "timezone": "UTC", "otherwise": "skip"}},
        ),
    ],
)
def test_a_constraint_is_the_same_here(constraint: Any, ours: Any) -> None:
    assert schedule_of(constraints=[constraint])["constraints"] == [ours]


@pytest.mark.parametrize(
    ("changed", "timeout", "status"),
    [
        ({}, "1h", "active"),
        ({"timeoutMillis": None, "status": None}, "1d", "suspended"),
        ({"timeoutMillis": 90_000, "status": "SUSPENDED"}, "90s", "suspended"),
    ],
)
def test_timeout_and_status(changed: Any, timeout: str, status: str) -> None:
    found = schedule_of(**changed)
    assert found["timeout"] == {"after": timeout, "from": "first_event"}
    assert found["status"] == status


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"trigger": ELSEWHERE}, "a dataset of another namespace"),
        ({"trigger": {"type": "AND", "triggers": [TIME, ELSEWHERE]}}, "a dataset of another namespace"),
        ({"trigger": {"type": "OR", "triggers": [ELSEWHERE]}}, "no member of it can be translated"),
        ({"trigger": {**TIME, "cronExpression": "30 0 4 * * ?"}}, "seconds other than 0"),
        ({"trigger": {**TIME, "cronExpression": "0 4 L * ?"}}, '"L"'),
        ({"trigger": {**TIME, "cronExpression": "0 4 1 * 2"}}, "both a day of the month"),
        ({"trigger": {"type": "STREAM_SIZE", "triggerMB": 1}}, "a trigger that does not exist here"),
        ({"trigger": None}, "trigger is not a mapping"),
        ({"trigger": runs("INITIALIZING")}, "a status that does not exist here"),
        ({"trigger": runs("COMPLETED", type="SPARK")}, "a program that is not a workflow"),
        ({"program": {"programName": "x", "programType": "SPARK"}}, "a program that is not a workflow"),
        ({"trigger": runs("COMPLETED", program="a"), "program": None}, "program is not a mapping"),
        (
            {"constraints": [{"type": "DELAY", "millisAfterTrigger": 7_200_000}]},
            "L433: the timeout must not end before",
        ),
    ],
)
def test_a_schedule_that_would_not_be_the_same_is_a_comment_at_its_place(changed: Any, reason: str) -> None:
    first, last = {**DAILY, "name": "first"}, {**DAILY, "name": "last"}

    content, text = translated(first, {**DAILY, **changed}, last)

    assert list(content["schedules"]) == ["first", "last"]
    lines = text.splitlines()
    (note,) = (each for each in lines if each.startswith("  # not translated: schedule "))
    assert reason in note
    assert lines.index("  first:") < lines.index(note) < lines.index("  last:")


def test_parts_that_have_no_translation_are_comments_at_their_places() -> None:
    constraints = [
        {
            "type": "TIME_RANGE",
            "startTime": "1:00",
            "endTime": "2:00",
            "timeZone": "Mars",
            "waitUntilMet": True,
        },
        {"type": "CONCURRENCY", "maxConcurrency": 0},
    ]
    trigger = {"type": "OR", "triggers": [ELSEWHERE, TIME, {**PARTITION, "numPartitions": 0}]}
    content, text = translated(
        {
            **DAILY,
            "constraints": [*constraints, {"type": "CONCURRENCY", "maxConcurrency": 1}],
            "trigger": trigger,
            "properties": {"key": "{{ value }}\n: 1"},
            "timeoutMillis": 10,
            "status": "LOST",
        },
        {**DAILY, "name": "notes_only", "constraints": constraints},
        7,
    )

    assert text.count("# not translated: ") == 10
    assert content["schedules"]["daily_schedule"]["constraints"] == [
        {"concurrency": {"max": 1, "otherwise": "skip"}}
    ]
    assert "constraints" not in content["schedules"]["notes_only"]
    assert content["schedules"]["daily_schedule"]["timeout"]["after"] == "1d"


def test_workflows_of_one_name_are_programs_of_their_own() -> None:
    trigger = runs("COMPLETED", program="DataPipelineWorkflow")
    content, text = translated(
        {
            **DAILY,
            "program": {"programName": "DataPipelineWorkflow", "programType": "WORKFLOW"},
            "trigger": trigger,
        }
    )
    assert content["programs"] == {
        "data_pipeline_workflow": {"job": "DataPipelineWorkflow"},
        "data_pipeline_workflow_2": {"job": "DataPipelineWorkflow"},
    }
    assert "# the workflow DataPipelineWorkflow of default/Purchases" in text
    assert "# the workflow DataPipelineWorkflow of default/Feeds" in text


def test_schedules_that_would_trigger_each_other_are_not_all_translated() -> None:
    other = {
        **runs("COMPLETED", program="load"),
        "programId": {**DAILY["program"], "application": "Purchases"},
    }
    content, text = translated({**DAILY, "trigger": other})
    assert "schedules" not in content and "L401" in text


def test_hostile_texts_stay_text() -> None:
    hostile = 'a: "b" # {{ x }} ${env.HOME} \u200b\u2028\x07 &a *b !c \\ %'
    program = {"programName": hostile, "programType": "WORKFLOW"}
    content, _ = translated({**DAILY, "name": hostile, "description": hostile, "program": program})
    (found,) = content["schedules"].values()
    shown = hostile.replace("\u200b", r"\u200b").replace("\u2028", r"\u2028").replace("\x07", r"\u0007")
    assert found["description"] == shown.replace("${env", "$${env")
    assert list(content["programs"].values()) == [{"job": "a_b_x_env_HOME_a_b_c_"}]


@pytest.mark.parametrize("data", [b"", b"{", b"7", b'"text"', b"\xff", b"[" * 100_000])
def test_what_is_no_answer_of_the_api_is_refused(data: bytes) -> None:
    with pytest.raises(UserError, match="GET "):
        read_cdap(data, "legacy")
