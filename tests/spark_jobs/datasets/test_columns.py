"""The columns of a growing table: what is added, what stays, what is refused."""

import json
from typing import Any

import pytest

from tidegate.spark_jobs.datasets.columns import (
    ColumnClash,
    Type,
    are_read_as,
    columns_as_written,
    union_columns,
)


def struct(*, nullable: bool = True, **columns: Type) -> dict[str, Any]:
    return {"type": "struct", "fields": [field(name, kind, nullable) for name, kind in columns.items()]}


def field(name: str, kind: Type, nullable: bool) -> dict[str, Any]:
    return {"name": name, "type": kind, "nullable": nullable, "metadata": {}}


def array(element: Type) -> dict[str, Any]:
    return {"type": "array", "elementType": element, "containsNull": True}


def values(kind: Type) -> dict[str, Any]:
    return {"type": "map", "keyType": "string", "valueType": kind, "valueContainsNull": True}


def united(standing: dict[str, Any], coming: dict[str, Any]) -> dict[str, Any]:
    return json.loads(union_columns(json.dumps(standing), json.dumps(coming)))


@pytest.mark.parametrize(
    ("standing", "coming", "expected"),
    [
        (struct(a="integer"), struct(a="integer"), struct(a="integer")),
        (struct(a="integer"), struct(a="integer", b="string"), struct(a="integer", b="string")),
        (struct(a="integer", b="string"), struct(b="string"), struct(a="integer", b="string")),
        (
            struct(a="integer", b="string"),
            struct(c="date", b="string", a="integer"),
            struct(a="integer", b="string", c="date"),
        ),
        (struct(a="integer"), struct(A="integer"), struct(a="integer")),
        (
            struct(a=struct(x="integer")),
            struct(a=struct(y="integer")),
            struct(a=struct(x="integer", y="integer")),
        ),
        (
            struct(a=array(struct(x="integer"))),
            struct(a=array(struct(y="date"))),
            struct(a=array(struct(x="integer", y="date"))),
        ),
        (
            struct(a=values(array("date")), b="date"),
            struct(a=values(array("date"))),
            struct(a=values(array("date")), b="date"),
        ),
    ],
    ids=[
        "the same",
        "a new one comes last",
        "one that is left out stays",
        "the order of the table holds",
        "names are compared without their case",
        "structs grow too",
        "in arrays as well",
        "and nothing changes a map",
    ],
)
def test_the_columns_of_both(
    standing: dict[str, Any], coming: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert united(standing, coming) == expected


@pytest.mark.parametrize(
    ("standing", "coming", "message"),
    [
        ("double", "long", "a is double in the table and long in the output"),
        ("decimal(9,2)", "decimal(9,3)", r"a is decimal\(9,2\) in the table"),
        ("integer", array("integer"), "a is integer in the table and array in the output"),
        (struct(x=struct(y="date")), struct(x=struct(y="long")), r"a\.x\.y is date in the table"),
        (values("integer"), values("date"), "a is integer in the table and date in the output"),
    ],
)
def test_two_types_of_one_column_are_refused(standing: Type, coming: Type, message: str) -> None:
    with pytest.raises(ColumnClash, match=message):
        united(struct(a=standing), struct(a=coming))


@pytest.mark.parametrize(
    ("one", "other", "wide"),
    [
        ("integer", "long", "long"),
        ("byte", "short", "short"),
        ("float", "double", "double"),
        ("decimal(9,2)", "decimal(12,2)", "decimal(12,2)"),
        ("void", "date", "date"),
        (values(array("integer")), values(array("long")), values(array("long"))),
    ],
)
def test_a_type_becomes_wider_and_files_with_the_narrower_one_are_known(
    one: Type, other: Type, wide: Type
) -> None:
    assert united(struct(a=one), struct(a=other)) == united(struct(a=other), struct(a=one)) == struct(a=wide)
    columns = union_columns("", json.dumps(struct(a=wide, b="date")))
    assert are_read_as(columns, json.dumps(struct(A=wide)))
    narrow = columns_as_written(columns, json.dumps(struct(a=one)))
    assert are_read_as(columns, json.dumps(struct(a=one))) is (one == "void")
    assert json.loads(narrow) == struct(a=wide if one == "void" else one, b="date")


def test_no_column_must_have_a_value_since_a_later_publish_may_leave_it_out() -> None:
    must = struct(nullable=False, a=struct(nullable=False, x="integer"))
    assert json.loads(union_columns("", json.dumps(must))) == struct(a=struct(x="integer"))
    assert united(must, struct(nullable=False, b="date")) == struct(
        a=struct(nullable=False, x="integer"), b="date"
    )
