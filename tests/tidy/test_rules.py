"""Rules on what may be named where catch what they must; `tests/test_tidy.py` applies them."""

from tests.tidy.finding import Source
from tests.tidy.internals import check_internals
from tests.tidy.kinds import check_operations
from tests.tidy.shape import check_shape

DOC = '"""What it is."""\n'


def test_private_parts_of_dagster_elsewhere_are_caught() -> None:
    need = "tidegate/dagster_defs/internals/cron.py"
    text = '"""Fires.\n\nWhy: none.\nSince: Dagster 1.8.\n"""\nfrom dagster._utils import fires\n'
    private = DOC + "from dagster._utils import fires, other\n"
    assert [str(one) for one in check_internals([Source(path=need, text=text)])] == []
    sources = (
        Source(path=need, text=text.replace("Since", "From")),
        Source(path="tidegate/server/x.py", text=private),
        Source(path="tests/x.py", text=private),
    )
    assert [str(one) for one in check_internals(sources)] == [
        f"{need}:1: error: says what it has, then `Why: …` and `Since: Dagster 1.N …`",
        "tidegate/server/x.py:2: error: names a private part of Dagster; "
        "take it from a file of tidegate/dagster_defs/internals/",
        f"tests/x.py:2: error: take fires from {need}",
    ]


def test_a_test_for_an_operation_is_caught() -> None:
    text = DOC + "def f(operation): return operation is Operation.REWRITE_MANIFESTS\n"
    assert [*check_operations(Source(path="tidegate/spark_jobs/maintenance/iceberg/x.py", text=text))] == []
    assert [str(one) for one in check_operations(Source(path="tidegate/scheduler/x.py", text=text))] == [
        "tidegate/scheduler/x.py:2: error: names REWRITE_MANIFESTS; ask the operation for a fact"
    ]


def test_a_docstring_without_a_summary_is_none() -> None:
    for text in ('""\n', '"""\n\nMore.\n"""\nx = 1\n'):
        (found,) = check_shape(Source(path="tidegate/scheduler/x.py", text=text))
        assert "no docstring" in str(found)
