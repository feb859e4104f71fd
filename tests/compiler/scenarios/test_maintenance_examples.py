"""Examples of maintenance: what actions and expectations about tables become."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.compiler.scenarios.example import START, ExampleOf
from tidegate.compiler.scenarios.model.maintenance import (
    DisablePolicy,
    ExpectDebt,
    ExpectDiscardedOperation,
    ExpectDue,
    ExpectMaintain,
    MaintainByHand,
    OperationEnds,
    TableWritten,
)
from tidegate.compiler.scenarios.model.scenario import Action, ExpectDiscarded, Expected, ExpectRefused
from tidegate.domain.maintenance.measures import DAY, MEASURES
from tidegate.domain.model import Operation

APP: dict[str, Any] = {
    "app": "a",
    "datasets": {"raw": {}, "out": {"format": "iceberg"}, "both": {}},
    "programs": {"p": {"run": "j.p", "reads": ["raw"], "writes": ["out"]}},
    "schedules": {
        "after": {"program": "p", "trigger": {"partitions": {"dataset": "raw"}}, "status": "active"},
        "both": {"program": "p", "trigger": {"cron": "0 6 * * *"}, "status": "suspended"},
    },
}
REWRITE, EXPIRE = Operation.REWRITE_DATA_FILES, Operation.EXPIRE_SNAPSHOTS
EVERYTHING = {
    "small_file_percent": 12.5,
    "small_files": 7,
    "large_file_percent": 3,
    "files": 0,
    "total_size": "10GB",
    "delete_files": 1,
    "delete_ratio": 0.25,
    "snapshots": 120,
    "oldest_snapshot_age": "40d",
    "newest_snapshot_age": "36h",
    "partitions": 5000,
    "partition_skew": 3.5,
    "manifests": 2,
    "manifest_size": 1000,
}
EXAMPLE = ExampleOf(APP)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("table: c.n.t", TableWritten(table="c.n.t")),
        ("table: c.n.t.partitions", TableWritten(table="c.n.t.partitions")),
        ("table: out", TableWritten(table="a/out")),
        ("table: a/out", TableWritten(table="a/out")),
        ("table: other/out", TableWritten(table="other/out")),
        ("table: c.n.t, health: unknown", TableWritten(table="c.n.t", health=None)),
        ("table: c.n.t, health: {}", TableWritten(table="c.n.t")),
        ("table: c.n.t, gone: true", TableWritten(table="c.n.t", gone=True)),
        ("table: c.n.t, gone: false", TableWritten(table="c.n.t")),
        (
            "operation_ends: {table: c.n.t, operation: expire_snapshots}",
            OperationEnds(table="c.n.t", operation=EXPIRE),
        ),
        (
            "operation_ends: {table: no.such.table, operation: rewrite_data_files, changed: false,"
            " ends: [succeeded, failed, conflict, died], bytes: 600MB, takes: 5m}",
            OperationEnds(
                table="no.such.table",
                operation=REWRITE,
                ends=("succeeded", "failed", "conflict", "died"),
                changed=False,
                bytes=600_000_000,
                takes=timedelta(minutes=5),
            ),
        ),
        (
            "operation_ends: {table: out, operation: rewrite_manifests, ends: failed, bytes: 0, takes: 0s}",
            OperationEnds(
                table="a/out", operation=Operation.REWRITE_MANIFESTS, ends=("failed",), takes=timedelta(0)
            ),
        ),
        ("maintain: {table: c.n.t}", MaintainByHand(table="c.n.t")),
        (
            "maintain: {table: nowhere, operation: remove_orphan_files, policy: No Policy}",
            MaintainByHand(table="a/nowhere", operation=Operation.REMOVE_ORPHAN_FILES, policy="No Policy"),
        ),
        ("disable: nightly", DisablePolicy(policy="nightly")),
        ("disable: No Policy", DisablePolicy(policy="No Policy")),
    ],
)
def test_an_action(text: str, found: Action) -> None:
    assert EXAMPLE.action(text) == found


def test_health_is_in_the_units_of_the_measures() -> None:
    found = EXAMPLE.action(f"table: c.n.t, health: {json.dumps(EVERYTHING)}")
    assert isinstance(found, TableWritten)
    assert found.health == {
        "small_file_percent": 12.5,
        "small_files": 7.0,
        "large_file_percent": 3.0,
        "files": 0.0,
        "total_size": 10e9,
        "delete_files": 1.0,
        "delete_ratio": 0.25,
        "snapshots": 120.0,
        "oldest_snapshot_age": 40 * DAY,
        "newest_snapshot_age": 1.5 * DAY,
        "partitions": 5000.0,
        "partition_skew": 3.5,
        "manifests": 2.0,
        "manifest_size": 1000.0,
    }
    assert found.health.keys() == MEASURES.keys()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "maintain: c.n.t, operation: rewrite_data_files",
            ExpectMaintain(table="c.n.t", operation=REWRITE, when=START),
        ),
        (
            "maintain: out, operation: expire_snapshots, policy: nightly, probe: true, forced: false,"
            " excluded: [2026-03-10, 2026-03-09]",
            ExpectMaintain(
                table="a/out",
                operation=EXPIRE,
                when=START,
                policy="a/nightly",
                probe=True,
                forced=False,
                excluded=("2026-03-09", "2026-03-10"),
            ),
        ),
        (
            "maintain: c.n.t, operation: rewrite_data_files, policy: other/nightly, excluded: []",
            ExpectMaintain(table="c.n.t", operation=REWRITE, when=START, policy="other/nightly", excluded=()),
        ),
        (
            "due: a/out, operation: rewrite_data_files, reason: M-WINDOW, next: +2h",
            ExpectDue(
                table="a/out",
                operation=REWRITE,
                when=START,
                reason="M-WINDOW",
                next=START + timedelta(hours=2),
            ),
        ),
        (
            "due: c.n.t, operation: expire_snapshots, next: 2026-04-10T00:00:00Z",
            ExpectDue(table="c.n.t", operation=EXPIRE, when=START, next=datetime(2026, 4, 10, tzinfo=UTC)),
        ),
        (
            "debt: c.n.t, score: 55, parts: {issues: 50, stale: 5.0}",
            ExpectDebt(table="c.n.t", when=START, score=55, parts={"issues": 50.0, "stale": 5.0}),
        ),
        ("debt: out, score: 0.5", ExpectDebt(table="a/out", when=START, score=0.5)),
        (
            "discarded: c.n.t, operation: rewrite_data_files, reason: D-DELETED",
            ExpectDiscardedOperation(table="c.n.t", operation=REWRITE, when=START, reason="D-DELETED"),
        ),
        ("discarded: c.n.t", ExpectDiscardedOperation(table="c.n.t", when=START)),
        (
            "discarded: out, operation: expire_snapshots",
            ExpectDiscardedOperation(table="a/out", operation=EXPIRE, when=START),
        ),
        ("discarded: after", ExpectDiscarded(schedule="after", when=START)),
        ("refused: E-TABLE", ExpectRefused(code="E-TABLE", when=START)),
        ("refused: E-POLICY", ExpectRefused(code="E-POLICY", when=START)),
        ("refused: E-ACTIVE", ExpectRefused(code="E-ACTIVE", when=START)),
    ],
)
def test_an_expectation(text: str, found: Expected) -> None:
    assert EXAMPLE.expected(text) == found


def test_a_start_and_a_discard_may_be_expected_at_any_time() -> None:
    found = EXAMPLE.scenario(
        "    expect:\n      - {maintain: c.n.t, operation: rewrite_data_files}\n"
        "      - {discarded: c.n.t, operation: rewrite_data_files}\n"
    )
    assert [each.expected.when for each in found.expect] == [None, None]


def test_only_some_schedules_and_tables_must_be_expected() -> None:
    assert EXAMPLE.scenario("    expect_only: [after, out, c.n.t, other/out]\n").expect_only == (
        "after",
        "a/out",
        "c.n.t",
        "other/out",
    )


def test_a_name_of_a_schedule_and_a_dataset_means_both() -> None:
    assert EXAMPLE.scenario("    expect_only: [both]\n").expect_only == ("both", "a/both")


def test_a_deployment_may_bring_the_dataset_of_a_table() -> None:
    text = "{app: 'app: a\n\n\ndatasets: {new: {format: iceberg}}'}"
    found = EXAMPLE.scenario(
        f"    given:\n      - {{at: +0s, deploy: {text}}}\n"
        "    expect:\n      - {at: +0s, debt: new, score: 0}\n"
    )
    assert found.expect[0].expected == ExpectDebt(table="a/new", when=START, score=0)


DEPLOYED = (
    "'app: a\n\n\ndatasets: {new: {format: iceberg}, twice: {format: iceberg}}\n\n\ntasks: {twice: {}}'"
)


@pytest.mark.parametrize(
    ("deploy", "name", "found"),
    [
        (f"app: {DEPLOYED}", "new", ("a/new",)),
        (f"app: {DEPLOYED}", "a/new", ("a/new",)),
        (f"app: {DEPLOYED}", "twice", ("twice", "a/twice")),
        (f"app: {DEPLOYED}", "after", ("after",)),
        (f"app: {DEPLOYED}", "out", ("a/out",)),
        ("file: next.yaml", "new", ("new", "a/new")),
        ("file: next.yaml", "a/new", ("new", "a/new")),
        ("file: next.yaml", "after", ("after", "a/after")),
        ("file: next.yaml", "c.n.t", ("c.n.t",)),
        ("file: next.yaml", "other/new", ("other/new",)),
    ],
)
def test_a_deployment_may_bring_what_must_be_expected(deploy: str, name: str, found: tuple[str, ...]) -> None:
    example = f"    given:\n      - {{at: +0s, deploy: {{{deploy}}}}}\n    expect_only: [{name}]\n"
    assert EXAMPLE.scenario(example).expect_only == found


@pytest.mark.parametrize(("name", "code"), [("newer", "N305"), ("a/newer", "N301")])
def test_what_no_deployment_brings_cannot_be_expected(name: str, code: str) -> None:
    example = f"    given:\n      - {{at: +0s, deploy: {{app: {DEPLOYED}}}}}\n    expect_only: [{name}]\n"
    assert EXAMPLE.codes(example) == [code]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("table: nowhere", "N301"),
        ("table: n.t", "S106"),
        ("table: c..t", "S106"),
        ("table: ''", "S106"),
        ("table: 7", "S104"),
        ("health: unknown", "S109"),
        ("gone: true", "S109"),
        ("table: c.n.t, partitions: {dataset: raw}", "S110"),
        ("table: c.n.t, gone: true, health: {files: 1}", "S110"),
        ("table: c.n.t, gone: true, health: unknown", "S110"),
        ("table: c.n.t, gone: maybe", "S104"),
        ("table: c.n.t, health: bad", "S105"),
        ("table: c.n.t, health: [files]", "S104"),
        ("table: c.n.t, health: {small: 1}", "S101"),
        ("table: c.n.t, health: {small_file_percent: 101}", "S107"),
        ("table: c.n.t, health: {small_file_percent: many}", "S104"),
        ("table: c.n.t, health: {files: 1.5}", "S104"),
        ("table: c.n.t, health: {files: -1}", "S107"),
        ("table: c.n.t, health: {delete_ratio: -0.1}", "S107"),
        ("table: c.n.t, health: {total_size: 5 files}", "S106"),
        ("table: c.n.t, health: {total_size: 9999999TB}", "V213"),
        ("table: c.n.t, health: {manifest_size: true}", "S104"),
        ("table: c.n.t, health: {oldest_snapshot_age: 40}", "S104"),
        ("table: c.n.t, health: {oldest_snapshot_age: long}", "S106"),
        ("table: c.n.t, health: {newest_snapshot_age: 400d}", "V201"),
        ("operation_ends: {table: c.n.t}", "S103"),
        ("operation_ends: {operation: rewrite_data_files}", "S103"),
        ("operation_ends: {table: nowhere, operation: rewrite_data_files}", "N301"),
        ("operation_ends: {table: n.t, operation: rewrite_data_files}", "S106"),
        ("operation_ends: {table: c.n.t, operation: compact}", "S105"),
        ("operation_ends: {table: c.n.t, operation: rewrite_data_files, ends: cancelled}", "S105"),
        ("operation_ends: {table: c.n.t, operation: rewrite_data_files, ends: []}", "S108"),
        ("operation_ends: {table: c.n.t, operation: rewrite_data_files, ends: [failed, late]}", "S105"),
        ("operation_ends: {table: c.n.t, operation: rewrite_data_files, changed: 1}", "S104"),
        ("operation_ends: {table: c.n.t, operation: rewrite_data_files, bytes: 9999999TB}", "V213"),
        ("operation_ends: {table: c.n.t, operation: rewrite_data_files, takes: 400d}", "V201"),
        ("operation_ends: {table: c.n.t, operation: rewrite_data_files, tables: 1}", "S101"),
        ("maintain: c.n.t", "S104"),
        ("maintain: {operation: rewrite_data_files}", "S103"),
        ("maintain: {table: c.n.t, operation: compact}", "S105"),
        ("maintain: {table: c.n.t, policy: 7}", "S104"),
        ("maintain: {table: c.n.t, dry_run: true}", "S101"),
        ("disable: ''", "S112"),
        ("disable: [nightly]", "S104"),
    ],
)
def test_a_wrong_action(text: str, code: str) -> None:
    assert code in EXAMPLE.codes(f"    given:\n      - {{at: +0s, {text}}}\n")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("maintain: c.n.t", "S103"),
        ("maintain: nowhere, operation: rewrite_data_files", "N301"),
        ("maintain: n.t, operation: rewrite_data_files", "S106"),
        ("maintain: c.n.t, operation: compact", "S105"),
        ("maintain: c.n.t, operation: rewrite_data_files, probe: 1", "S104"),
        ("maintain: c.n.t, operation: rewrite_data_files, forced: maybe", "S104"),
        ("maintain: c.n.t, operation: rewrite_data_files, excluded: 2026-03-10", "S104"),
        ("maintain: c.n.t, operation: rewrite_data_files, reason: M-WINDOW", "S111"),
        ("maintain: c.n.t, operation: rewrite_data_files, next: +1h", "S111"),
        ("due: c.n.t", "S103"),
        ("due: nowhere, operation: rewrite_data_files", "N301"),
        ("due: c.n.t, operation: rewrite_data_files, reason: M-NEVER", "S105"),
        ("due: c.n.t, operation: rewrite_data_files, next: soon", "V210"),
        ("due: c.n.t, operation: rewrite_data_files, policy: nightly", "S111"),
        ("due: c.n.t, operation: rewrite_data_files, probe: true", "S111"),
        ("debt: c.n.t", "S103"),
        ("debt: nowhere, score: 1", "N301"),
        ("debt: c.n.t, score: high", "S104"),
        ("debt: c.n.t, score: 1001", "S107"),
        ("debt: c.n.t, score: 1, parts: {failures: 1}", "S101"),
        ("debt: c.n.t, score: 1, parts: {issues: -1}", "S107"),
        ("debt: c.n.t, score: 1, operation: rewrite_data_files", "S111"),
        ("discarded: nowhere", "N305"),
        ("discarded: nowhere, operation: rewrite_data_files", "N301"),
        ("launch: after, operation: rewrite_data_files", "S111"),
        ("launch: after, score: 1", "S111"),
        ("refused: E-ELSE", "S106"),
    ],
)
def test_a_wrong_expectation(text: str, code: str) -> None:
    assert code in EXAMPLE.codes(f"    expect:\n      - {{at: +0s, {text}}}\n")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("due: c.n.t, operation: rewrite_data_files", "S103"),
        ("debt: c.n.t, score: 1", "S103"),
    ],
)
def test_a_state_needs_its_instant(text: str, code: str) -> None:
    assert code in EXAMPLE.codes(f"    expect:\n      - {{{text}}}\n")


@pytest.mark.parametrize(("name", "code"), [("nowhere", "N305"), ("a/nowhere", "N301"), ("7", "S104")])
def test_a_wrong_name_in_expect_only(name: str, code: str) -> None:
    assert EXAMPLE.codes(f"    expect_only: [{name}]\n") == [code]
