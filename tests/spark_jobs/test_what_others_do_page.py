"""The table of what others may do, in docs/exactly-once.md, names each of its tests, and no other."""

import re
from pathlib import Path

from tests.spark_jobs.test_what_others_do import ROWS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/exactly-once.md"
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`|`(\w+)`")


def test_the_page_names_every_test_and_each_exists() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("## What others may do to a table")[2]
    table = [line for line in section.partition("\n### ")[0].splitlines() if line.startswith("| ")][1:]
    functions: list[str] = []
    for line in table:
        found = TEST.findall(line.rpartition(" | ")[2])
        assert found, f"without a test: {line}"
        for file, test, function in found:
            if function:
                functions.append(function)
            else:
                assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), line
    assert len(functions) == len({*functions})
    assert {*functions} == ROWS["parquet"].keys() | ROWS["iceberg"].keys()
