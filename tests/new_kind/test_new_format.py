"""A new table format is a folder of `spark_jobs`, one of its maintenance, and a line in each registry.

As in `test_new_kind`, the format is added to a copy of the package, and a dataset of it is taken through what
meets a format: settings, lint, plan, deploy, and the registries that read, write and maintain tables.
"""

import pytest

from tests.new_kind.copied import add, added_lines, copied, printed_by

pytestmark = pytest.mark.endurance  # a process, in which the whole package is imported


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the story prints, run on a copy of the package that has the new format."""
    folder = copied(tmp_path_factory.mktemp("copy"), "format.patch")
    for room in ("spark_jobs/archive", "spark_jobs/maintenance/archive"):
        add(folder, room, "format.py", f"{room.replace('/', '_')}_format.txt")
    return printed_by(folder, "format_story", str(tmp_path_factory.mktemp("project")))


def test_files_that_exist_get_a_line_in_each_registry_and_a_word_in_the_schema() -> None:
    added = {path: len(lines) for path, lines in added_lines("format.patch").items()}
    assert added == {
        "tidegate/domain/model/table_format.py": 1,
        "tidegate/spark_jobs/publication/formats.py": 2,
        "tidegate/spark_jobs/maintenance/formats.py": 2,
        "tidegate/compiler/schema/app.schema.json": 1,
    }


def test_the_language_knows_what_the_format_says_of_itself(printed: str) -> None:
    assert "error[V216]: the catalog chooses the path of an Archive table" in printed
    assert 'format: "parquet" -> "archive"' in printed


def test_each_dataset_of_it_is_given_to_it(printed: str) -> None:
    assert "sales report archive ArchiveFormat MaintainedArchive" in printed
    assert "sales orders parquet ParquetFormat MaintainedParquet" in printed
    assert "stock bins archive ArchiveFormat MaintainedArchive" in printed
