"""Examples of maintenance where the stories do not go: what fails, and what a timeline shows."""

from datetime import UTC, datetime

import pytest

from tidegate.cli.develop.scenario_text import outcome_text, performance_text
from tidegate.compiler.compile import compile_files
from tidegate.domain.model import Operation, Priority
from tidegate.scheduler.launch.outbox import LaunchRequest
from tidegate.scheduler.model.job import LaunchPlan
from tidegate.scheduler.model.maintenance import Work, operation_program
from tidegate.scheduler.simulation.play import Performance, play
from tidegate.scheduler.simulation.tables import SimulatedTables
from tidegate.scheduler.store.memory.store import MemoryStore

APP = """
app: a
datasets:
  raw: {}
  whole: {format: iceberg}
policies:
  hourly: {tables: lake.x.t, operations: {rewrite_data_files: {interval: 1h}}}
  late:
    tables: lake.x.late
    operations:
      rewrite_data_files: {interval: 1h, when: {any: [{files: 100}]}}
      expire_snapshots: {interval: 1h, when: {any: [{snapshots: 100}], at_latest: 10m}}
examples:
  - name: it
    start: 2026-03-10T00:00:00Z
"""
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
T = "{at: +0s, table: lake.x.t}"
LATE = "{at: +0s, table: lake.x.late}"
REWRITE = "operation: rewrite_data_files"
STARTS = f"{{at: +0s, maintain: lake.x.t, {REWRITE}}}"


def played(given: str, expect: str, until: str = "+5m", *, app: str = APP, **others: str) -> Performance:
    text = f"{app}    given: [{given}]\n    expect: [{expect}]\n    until: {until}\n"
    found = compile_files({f"{name}.yaml": each.encode() for name, each in {"a": text, **others}.items()})
    assert found.ok, [(each.code, each.summary) for each in found.diagnostics]
    return play(found.apps["a"].scenarios[0], found.apps["a"])


FAILING = {
    "a start that is not expected": (
        T,
        "",
        "no launch, start, discard or refusal that is not listed",
        "00:00:00+00:00 maintained lake.x.t[rewrite_data_files] policy a/hourly",
    ),
    "a start at another time": (
        T,
        f"{{at: +1m, maintain: lake.x.t, {REWRITE}}}",
        "00:01:00+00:00 maintained lake.x.t[rewrite_data_files]",
        "00:00:00+00:00 maintained",
    ),
    "another operation": (
        T,
        f"{STARTS}, {{maintain: lake.x.t, operation: expire_snapshots}}",
        "at any time maintained lake.x.t[expire_snapshots]",
        "nothing of the kind",
    ),
    "another policy": (
        T,
        f"{{at: +0s, maintain: lake.x.t, {REWRITE}, policy: late, probe: true, forced: false}}",
        "lake.x.t[rewrite_data_files], policy a/late, probe, not forced",
        "policy a/hourly",
    ),
    "what is left out": (
        T,
        f"{{at: +0s, maintain: lake.x.t, {REWRITE}, excluded: [2026-03-10]}}",
        "without [2026-03-10]",
        "maintained lake.x.t[rewrite_data_files]",
    ),
    "due though it runs": (
        T,
        f"{STARTS}, {{at: +0s, due: lake.x.t, {REWRITE}, reason: M-TABLE}}",
        "lake.x.t[rewrite_data_files] due M-TABLE",
        "running, not due, no next time",
    ),
    "due though it has its next run": (
        T,
        f"{STARTS}, {{at: +5m, due: lake.x.t, {REWRITE}}}",
        "due for any reason",
        "not due, next 2026-03-10 01:00:00+00:00",
    ),
    "not due though it waits": (
        LATE,
        f"{{at: +1m, due: lake.x.late, {REWRITE}, next: +2m}}",
        "lake.x.late[rewrite_data_files] not due, next 2026-03-10 00:02:00+00:00",
        "due M-CONDITION, next 2026-03-10 00:02:00+00:00",
    ),
    "due without a policy": (
        "{at: +0s, table: lake.y.t}",
        f"{{at: +1m, due: lake.y.t, {REWRITE}}}",
        "lake.y.t[rewrite_data_files] due for any reason",
        "no policy has this operation for the table",
    ),
    "due for the next poll": (
        "{at: +30s, table: lake.x.t}, {at: +45s, restart: true}",
        f"{{maintain: lake.x.t, {REWRITE}}}, {{at: +40s, due: lake.x.t, {REWRITE}, reason: M-TABLE}}",
        "due M-TABLE",
        "due for the next poll",
    ),
    "a table that is not known": (
        "{at: +0s, table: lake.y.t, health: {files: 0}}, {at: +1m, table: lake.y.t, gone: true}",
        "{at: +1m, debt: lake.y.t, score: 10}",
        "debt 10 of lake.y.t",
        "there is no such table",
    ),
    "an operation on a table that is not known": (
        "",
        f"{{at: +1m, due: lake.z.t, {REWRITE}}}",
        "lake.z.t[rewrite_data_files] due for any reason",
        "no policy has this operation for the table",
    ),
    "another debt": (
        "{at: +0s, table: lake.y.t, health: {files: 0, newest_snapshot_age: 2d}}",
        "{at: +1m, debt: lake.y.t, score: 11, parts: {issues: 11}}",
        "debt 11 of lake.y.t, issues 11",
        "debt 11, issues 10, stale 1",
    ),
    "a debt where there is none": (
        "{at: +0s, table: lake.y.t}",
        "{at: +1m, debt: lake.y.t, score: 1}",
        "debt 1 of lake.y.t",
        "debt 0, no parts",
    ),
    "a discard that does not come": (
        LATE,
        "{at: +1m, discarded: lake.x.late, reason: D-DELETED}",
        "discarded lake.x.late D-DELETED",
        "nothing of the kind",
    ),
    "a discard of another operation": (
        f"{LATE}, {{at: +1m, disable: late}}",
        "{at: +1m, discarded: lake.x.late, operation: rewrite_manifests}",
        "discarded lake.x.late rewrite_manifests",
        "nothing of the kind",
    ),
    "a refusal that was not expected": (
        "{at: +1m, disable: missing}",
        "",
        "no launch, start, discard or refusal that is not listed",
        "refused E-POLICY (no policy missing is deployed)",
    ),
    "a table of another app's dataset": (
        "{at: +1m, table: other/whole}",
        "",
        "no launch, start, discard or refusal that is not listed",
        "refused other/whole E-TABLE",
    ),
}


@pytest.mark.parametrize("name", FAILING)
def test_fails_and_says_what_was_expected_and_what_was_observed(name: str) -> None:
    given, expect, expected, observed = FAILING[name]
    failures = played(given, expect).failures
    assert [
        failure for failure in failures if expected in failure.expected and observed in failure.observed
    ], "\n".join(map(str, failures))


def test_discards_of_due_operations_need_not_be_expected() -> None:
    assert played(f"{LATE}, {{at: +1m, disable: late}}", "").ok


def test_parts_that_are_zero_may_be_written_too() -> None:
    assert played("{at: +0s, table: lake.y.t}", "{at: +1m, debt: lake.y.t, score: 0, parts: {stale: 0}}").ok


def test_a_dataset_without_a_policy_has_a_debt() -> None:
    assert played("{at: +0s, table: whole, health: {files: 0}}", "{at: +1m, debt: a/whole, score: 10}").ok
    assert played("", "{at: +1m, debt: whole, score: 0}").ok


def test_a_dataset_whose_table_is_gone_comes_back_under_its_name() -> None:
    given = (
        "{at: +0s, table: whole, gone: true}, {at: +1m, maintain: {table: whole}},"
        " {at: +2m, table: whole, health: {files: 0}}"
    )
    assert played(given, "{at: +1m, refused: E-TABLE}, {at: +3m, debt: tidegate.a.whole, score: 10}").ok


@pytest.mark.parametrize("pattern", ["a/whole", "tidegate.a.whole"])
@pytest.mark.parametrize("gone", ["whole", "a/whole", "tidegate.a.whole"])
def test_the_table_of_a_dataset_keeps_its_names_once_it_is_gone(pattern: str, gone: str) -> None:
    app = APP.replace("lake.x.t,", f"{pattern},")
    given = f"{{at: +0s, table: tidegate.a.whole}}, {{at: +2m, table: {gone}, gone: true}}"
    for name in ("whole", "a/whole", "tidegate.a.whole"):
        found = played(given, f"{{at: +0s, maintain: {name}, {REWRITE}, policy: hourly}}", app=app)
        assert found.ok, found.failures


@pytest.mark.parametrize("name", ["whole", "tidegate.a.whole"])
def test_how_an_operation_goes_may_be_said_while_the_table_is_gone(name: str) -> None:
    given = (
        "{at: +0s, table: tidegate.a.whole, gone: true},"
        f" {{at: +1m, operation_ends: {{table: {name}, {REWRITE}, ends: failed}}}},"
        " {at: +2m, table: whole}"
    )
    start = f"{{at: +2m, maintain: whole, {REWRITE}}}"
    debt = "{at: +4m, debt: whole, score: 120, parts: {failure_rate: 100, failures_in_a_row: 20}}"
    found = played(given, f"{start}, {debt}", app=APP.replace("lake.x.t,", "a/whole,"))
    assert found.ok, found.failures


def test_the_dataset_of_another_app_may_be_maintained() -> None:
    for pattern, ok in (("b/facts", True), ("b/missing", False)):
        found = played(
            "{at: +1m, table: b/facts, health: {files: 0}}",
            f"{{at: +0s, maintain: b/facts, {REWRITE}}}, {{at: +2m, debt: b/facts, score: 10}}",
            app=APP.replace("lake.x.t,", f"{pattern},"),
            b="app: b\ndatasets: {facts: {format: iceberg}}\n",
        )
        assert found.ok is ok, found.failures


@pytest.mark.parametrize(
    ("own", "brought", "refused"),
    [
        ("maintenance: {poll: 5m}", "{app: b, maintenance: {poll: 7m}}", True),
        ("maintenance: {poll: 5m}", "{app: a, maintenance: {poll: 7m}}", False),
        ("maintenance: {poll: 5m}", "{app: b}", False),
        ("", "{app: b, maintenance: {poll: 7m}}", False),
    ],
)
def test_one_app_has_maintenance_whatever_is_deployed(own: str, brought: str, refused: bool) -> None:
    found = played(
        f"{{at: +1m, deploy: {{app: '{brought}'}}}}",
        "{at: +1m, refused: N318}" if refused else "",
        app=APP.replace("examples:", f"{own}\nexamples:"),
    )
    assert found.ok, found.failures


def test_a_policy_may_be_named_with_its_app() -> None:
    assert played(
        f"{T}, {{at: +1m, disable: a/hourly}}, {{at: +2m, maintain: {{table: lake.x.t, policy: a/hourly}}}}",
        f"{STARTS}, {{at: +2m, refused: E-POLICY}}",
    ).ok


def test_the_timeline_shows_what_happens_to_tables() -> None:
    given = (
        f"{T}, {{at: +0s, table: lake.x.late, health: unknown}},"
        f" {{at: +0s, operation_ends: {{table: lake.x.t, {REWRITE}, ends: died}}}},"
        " {at: +2m, table: lake.x.late, health: {files: 5, newest_snapshot_age: 36h, manifest_size: 2MB}},"
        f" {{at: +3m, maintain: {{table: lake.x.late, {REWRITE}, policy: late}}}},"
        " {at: +5m, maintain: {table: lake.x.late}}, {at: +330s, disable: late},"
        " {at: +330s, table: lake.x.late, gone: true}"
    )
    lines = performance_text(played(given, "", "+250m")).splitlines()
    for line in (
        "00:00:00  given          lake.x.t  the table is written (healthy)",
        "00:00:00  given          lake.x.late  the table is written, and cannot be measured",
        "00:00:00  given          lake.x.t  how rewrite_data_files goes from here on",
        "00:00:00  waiting        lake.x.late[rewrite_data_files]  M-HEALTH",
        "00:00:00  maintained     lake.x.t[rewrite_data_files]  policy a/hourly",
        "00:02:00  given          lake.x.late  the table is written (files 5, newest_snapshot_age 36h,"
        " manifest_size 2MB)",
        "00:03:00  given          lake.x.late  rewrite_data_files of late asked for by hand",
        "00:03:00  maintained     lake.x.late[rewrite_data_files]  policy a/late, by hand",
        "00:04:00  ended          lake.x.late[rewrite_data_files]  succeeded",
        "00:05:00  given          lake.x.late  all operations asked for by hand",
        "00:05:30  given          policy late disabled",
        "00:05:30  given          lake.x.late  the table is gone",
        "04:00:00  ended          lake.x.t[rewrite_data_files]  F-TIMEOUT  failed",
    ):
        assert f"    {line}" in lines, "\n".join(lines)


def test_the_timeline_shows_large_and_broken_numbers_as_they_are_written() -> None:
    given = "{at: +0s, table: lake.y.t, health: {files: 1234567, small_file_percent: 12.5}}"
    text = performance_text(played(given, ""))
    assert "the table is written (files 1234567, small_file_percent 12.5)" in text


def test_a_forced_start_says_so() -> None:
    text = performance_text(played(LATE, "", "+11m"))
    assert "00:10:00  maintained     lake.x.late[expire_snapshots]  policy a/late, forced" in text


def test_the_summary_has_the_tables() -> None:
    outcome = outcome_text(played(f"{T}, {LATE}", "", "+61m")).splitlines()
    assert "  lake.x.t: 2 launched (2 succeeded)" in outcome
    assert "    waiting for rewrite_data_files: M-CONDITION, 0 collected" in outcome


def test_a_launch_that_has_lost_its_claim_is_no_run() -> None:
    operation = Operation.REWRITE_DATA_FILES
    request = LaunchRequest(
        job="missing",
        attempt=1,
        run_key="missing-1",
        schedule="a/policy:hourly",
        app="a",
        launch=LaunchPlan(program=operation_program(operation), now=NOON),
        priority=Priority.NORMAL,
        reason="",
        maintenance=Work(table="lake.x.t", operation=operation, policy="a/hourly"),
    )
    assert SimulatedTables(MemoryStore()).launch([request], NOON) == ()


def test_only_the_named_tables_must_be_expected() -> None:
    text = (
        f"{APP}    given: [{T}, {{at: +0s, table: lake.x.late, health: {{files: 100}}}}]\n"
        f"    until: +1m\n    expect_only: [lake.x.late]\n"
        f"    expect: [{{at: +0s, maintain: lake.x.late, {REWRITE}}}]\n"
    )
    found = compile_files({"a.yaml": text.encode()})
    assert play(found.apps["a"].scenarios[0], found.apps["a"]).ok
