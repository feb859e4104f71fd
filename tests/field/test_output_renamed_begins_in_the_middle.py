"""The output of an incremental program was renamed, and the new table had only what landed after that.

`plan` and `deploy` say so before, and offer the two ways out; the run stops (test_rows_skipped_…).
"""

from pathlib import Path

import pytest

from tests.tidegate.project import SALES, Project
from tidegate.project import imports
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store

pytestmark = pytest.mark.slow  # whole commands

READ = SALES.replace("reads: [orders]", "reads: [{dataset: orders, incremental: true}]").replace(
    "report: {partitions: {cycle: day, start: 2026-01-01}}",
    "report: {partitions: {cycle: day, start: 2026-01-01}, write: append}",
)
RENAMED = READ.replace("  report: {", "  summary: {").replace("writes: [report]", "writes: [summary]")
WARNING = (
    "warning: sales/make_report has read sales/orders (1 part), and {} is a new table\n"
    "    it would begin with what lands from now on\n"
)
AGAIN = "to read all of it again: tidegate watermarks reset sales/make_report sales/orders\n"


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A deployed app whose program has read a day of orders."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(imports, "check_imports", lambda compilation, project: compilation)
    project = Project(tmp_path)
    project.write("sales", READ)
    project.run("deploy")
    opened = open_sql_store(load_settings().store_url)
    SqlCommitStepStore(opened.engine).set_watermark(
        ("sales/make_report", "sales/orders", "2026-03-09", 1), '{"files":{}}', "job 1"
    )
    opened.close()
    return project


def test_a_renamed_output_is_named_with_both_ways_out(read: Project) -> None:
    read.write("sales", RENAMED)
    hint = "hint: if sales/summary is report renamed, write `renamed_from: report` in it; "
    said = WARNING.format("sales/summary") + hint + AGAIN
    assert said in read.run("plan", exit_code=2)
    assert said in read.run("deploy")
    assert read.run("plan") == "No changes.\n"


def test_with_renamed_from_nothing_is_lost(read: Project) -> None:
    read.write("sales", RENAMED.replace("  summary: {", "  summary: {renamed_from: report, "))
    assert "is a new table" not in read.run("plan", exit_code=2)


@pytest.mark.parametrize(
    ("old", "new", "output"),
    [
        ("write: append}", "write: append, path: reports}", "sales/report"),
        ("writes: [report]", "writes: [report, added]", "sales/added"),
    ],
    ids=["moved", "added"],
)
def test_a_moved_or_added_output(read: Project, old: str, new: str, output: str) -> None:
    added = "  added: {partitions: {cycle: day, start: 2026-01-01}, write: append}\n\nprograms:"
    read.write("sales", READ.replace(old, new).replace("\nprograms:", added))
    assert WARNING.format(output) + "hint: " + AGAIN in read.run("plan", exit_code=2)
