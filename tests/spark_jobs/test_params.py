"""`params`: docs/programs.md has a table of every attribute, and of no other."""

import re
from pathlib import Path

import pytest

from tidegate.domain.launch_input import Fired, PartitionInput, UpstreamRun
from tidegate.spark_jobs.programs.params import Params

PAGE = (Path(__file__).parents[2] / "docs" / "programs.md").read_text()
HEAD = "| attribute | type | what it is |\n|---|---|---|\n"

TABLES = [
    ("`params` has these attributes", Params.__dataclass_fields__),
    ("`params.sizes[", PartitionInput.__struct_fields__),
    ("A member of `params.upstream`", UpstreamRun.__struct_fields__),
    ("A member of `params.fired`", Fired.__struct_fields__),
]


@pytest.mark.parametrize(("above", "fields"), TABLES, ids=[row[0] for row in TABLES])
def test_the_page_lists_every_attribute_with_its_type(above, fields):
    table = PAGE[PAGE.index(above) :].split(HEAD)[1].split("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| [^|]+ \|$", table, re.MULTILINE)
    assert len(rows) == len(table.splitlines())
    assert [name for name, _ in rows] == list(fields)
