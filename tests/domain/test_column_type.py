"""The types of columns: every name of Spark's is read, printed and compared as Spark does it."""

import pytest

from tidegate.domain.column_type import ColumnTypeError, Type, is_of_type, parse_type, type_text


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("boolean", "boolean"),
        ("BYTE", "tinyint"),
        ("short", "smallint"),
        ("Integer", "int"),
        ("long", "bigint"),
        ("real", "float"),
        ("decimal", "decimal(10,0)"),
        ("dec(5)", "decimal(5,0)"),
        ("numeric( 10 , 2 )", "decimal(10,2)"),
        ("timestamp_ltz", "timestamp"),
        ("timestamp_ntz", "timestamp_ntz"),
        ("array< map<string, DATE> >", "array<map<string,date>>"),
        ("struct<a int, `b c`: struct<d:binary>>", "struct<a:int,`b c`:struct<d:binary>>"),
        ("struct<```x`:int>", "struct<```x`:int>"),
    ],
)
def test_a_name_is_read_and_printed_as_spark_prints_it(written: str, printed: str) -> None:
    assert type_text(parse_type(written)) == printed
    assert parse_type(printed) == parse_type(written)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("", "is missing at the end"),
        ("bigin", 'got "bigin"'),
        ("varchar(10)", 'got "varchar"'),
        ("interval", 'got "interval"'),
        ("void", 'got "void"'),
        ("int;", 'got ";"'),
        ("int int", 'got "int" behind "int"'),
        ("array<int", 'needs ">", got "the end"'),
        ("array", 'needs "<", got "the end"'),
        ("map<int>", 'needs ","'),
        ("struct<>", 'got ">"'),
        ("struct<a:int,A:int>", 'got "A" twice'),
        ("struct<a:int NOT NULL>", 'NAME:TYPE alone, got "NOT"'),
        ("decimal(39,2)", "decimal(39,2)"),
        ("decimal(4,5)", "decimal(4,5)"),
        ("decimal(a,5)", 'got "a"'),
        ("decimal(99999,5)", 'got "99999"'),
        ("array<" * 40 + "int" + ">" * 40, "at most 32 deep"),
    ],
)
def test_what_is_not_a_type_of_tables_is_refused(written: str, message: str) -> None:
    with pytest.raises(ColumnTypeError) as refused:
        parse_type(written)
    assert message in refused.value.message
    assert refused.value.hint


@pytest.mark.parametrize(
    ("found", "declared", "same"),
    [
        ("int", "int", True),
        ("int", "bigint", False),
        ("decimal(8,2)", "decimal(10,2)", False),
        ("struct<A:int>", "struct<a:int>", True),
        ("struct<a:int,b:int>", "struct<b:int,a:int>", False),
        ("struct<a:int>", "struct<a:int,b:int>", False),
        ("array<int>", "array<bigint>", False),
        ("map<string,int>", "map<string,int>", True),
        ("map<int,int>", "map<string,int>", False),
        ("array<int>", "map<int,int>", False),
    ],
)
def test_types_are_compared_as_they_are(found: str, declared: str, same: bool) -> None:
    assert is_of_type(parse_type(found), parse_type(declared)) is same


@pytest.mark.parametrize("declared", ["int", "array<int>", "struct<a:int>"])
def test_what_has_no_values_is_of_every_type(declared: str) -> None:
    empty: Type = {"type": "array", "elementType": "void", "containsNull": False}
    assert is_of_type("void", parse_type(declared))
    assert is_of_type(empty, parse_type(declared)) is declared.startswith("array")
