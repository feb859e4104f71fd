"""What lint says of the queries of SQL programs: codes, places, and the words that help."""

import json

import pytest

from tests.sql.queries import ARGS, READS, RIGHT, WRONG, File
from tidegate.compiler.compile import Compilation, compile_files
from tidegate.compiler.scope.project_files import files_of

FEEDS = "app: feeds\ndatasets: {shops: {path: landing/shops}}\n"
SHOP = f"""app: shop
datasets: {{sales: {{path: landing/sales}}, totals: {{}}}}
programs: {{totals: {{sql: programs/totals.sql, reads: {json.dumps(READS)}, writes: [totals]}}}}
schedules: {{nightly: {{program: totals, trigger: {{cron: "0 3 * * *"}}, args: {json.dumps(ARGS)}}}}}
"""


def lint(text: str) -> Compilation:
    files = {"feeds.yaml": FEEDS.encode(), "shop.yaml": SHOP.encode()}
    return compile_files(files, read_file=files_of({"programs/totals.sql": text.encode()}))


@pytest.mark.parametrize("file", RIGHT, ids=lambda file: file.text[:40])
def test_a_right_query_is_part_of_the_app(file: File) -> None:
    compilation = lint(file.text)
    assert [d.code for d in compilation.diagnostics if d.severity == "error"] == []
    (query,) = compilation.models()["shop"].programs["totals"].sql
    assert (query.output, query.file, query.text) == ("totals", "programs/totals.sql", file.text)


@pytest.mark.parametrize("file", WRONG, ids=lambda file: f"{file.code} {file.text[:40]}")
def test_a_wrong_query_has_one_error_at_the_first_character_of_its_token(file: File) -> None:
    compilation = lint(file.text)
    errors = [d for d in compilation.diagnostics if d.severity == "error"]
    assert [d.code for d in errors] == [file.code]
    at, hint = errors[0].at, errors[0].hint
    if file.code == "Q101":
        assert (at.file, at.line) == ("shop.yaml", 3)
    else:
        assert (at.file, at.line, at.column) == ("programs/totals.sql", *file.place)
    assert hint
    assert "shop" not in compilation.apps
