"""A new operation on tables is one file that carries it out, and its lines in three others.

As in `test_new_kind`, the operation is added to a copy of the package: its name and facts, its form in the
schema, and what carries it out on Iceberg tables. A policy with it is taken through all that meets one.
"""

import pytest

from tests.new_kind.copied import HERE, add, added_lines, copied, printed_by

pytestmark = pytest.mark.endurance  # a process, in which the whole package is imported


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the story prints, played on a copy of the package that has the new operation."""
    folder = copied(tmp_path_factory.mktemp("copy"), "operation.patch")
    room = "spark_jobs/maintenance/iceberg"
    add(folder, room, "rewrite_position_deletes.py", "spark_jobs_maintenance_iceberg.txt")
    return printed_by(folder, "operation_story", str(tmp_path_factory.mktemp("project")))


def test_three_files_that_exist_get_its_facts_its_form_and_a_line_in_the_registry() -> None:
    added = added_lines("operation.patch")
    assert sorted(added) == [
        "tidegate/compiler/schema/app.schema.json",
        "tidegate/domain/model/operation.py",
        "tidegate/spark_jobs/maintenance/iceberg/format.py",
    ]
    assert len(added["tidegate/domain/model/operation.py"]) == 4, "its name, and an entry with its facts"
    assert len(added["tidegate/spark_jobs/maintenance/iceberg/format.py"]) == 2, "an import and an entry"
    lines = (HERE / "operation.patch").read_text("utf-8").split("\n")
    assert not [line for line in lines if line[:1] == "-" and line[:3] != "---"]


def test_the_language_knows_it_from_lint_to_its_scenario(printed: str) -> None:
    assert "options of rewrite_position_deletes has no such key" in printed
    assert "ok   lake: position deletes are rewritten" in printed
    assert "operations.rewrite_position_deletes:" in printed


def test_a_poll_starts_it_without_the_partitions_that_pipelines_write(printed: str) -> None:
    assert "rewrite_position_deletes shop/report PENDING_LAUNCH excluded 2026-01-02" in printed
    assert "shop/policy:nightly[shop/report rewrite_position_deletes] (enabled): PENDING_LAUNCH" in printed
    assert "rewrite_position_deletes   shop/nightly          0   warehouse.analytics.*" in printed


def test_each_format_knows_whether_it_carries_it_out(printed: str) -> None:
    assert "iceberg: rewrite_position_deletes" in printed
    assert "parquet: {'not_applicable': 'a Parquet table has no need of it'}" in printed
