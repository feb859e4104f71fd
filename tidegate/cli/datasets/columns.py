"""`tidegate columns`: the block `columns` of a dataset whose table or files exist.

What the block cannot say (a type that tables of others may have) is a comment in it. The comment of a column
is taken as its description, with a unit in brackets at its end.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from tidegate.cli.datasets.named import AppOption, DatasetArgument, datasets_of, known_apps, whole_name_of
from tidegate.cli.printing import Format, FormatOption, print_json
from tidegate.domain.error import UserError

if TYPE_CHECKING:
    from tidegate.domain.model import Dataset, DeclaredColumn

_COMMENT = re.compile(r"(.*?) *\[([^\[\]]+)\]", re.DOTALL)


def columns(dataset: DatasetArgument, app: AppOption = None, format: FormatOption = Format.TEXT) -> None:
    """Write the `columns` of a dataset whose table exists, for its YAML."""
    from tidegate.compiler.render.yaml_text import block, comments
    from tidegate.domain.part_name import Ref

    _, apps = known_apps(format, dataset)
    whole = whole_name_of(dataset, app, apps, datasets_of(apps))
    of = Ref.of(whole)
    declared, left = _columns(whole, of.app, apps[of.app].datasets[of.name])
    if format is Format.JSON:
        print_json({"dataset": whole, "columns": declared, "left_out": left})
        return
    for line in block({"columns": {each.name: _written(each) for each in declared}}, ""):
        typer.echo(line)
    for line in comments((f"left out: {each}" for each in left), "  "):
        typer.echo(line)


def _columns(whole: str, app: str, dataset: "Dataset") -> "tuple[list[DeclaredColumn], list[str]]":
    """Return the columns of the table without its partition columns, and what cannot be declared.

    Raises:
        UserError: it has no table and no files.
    """
    from tidegate.domain.column_type import ColumnTypeError, is_reserved, parse_type, type_text

    declared: list[DeclaredColumn] = []
    left: list[str] = []
    for field in _fields(whole, app, dataset):
        kind = type_text(field["type"])
        try:
            parse_type(kind)
        except ColumnTypeError as error:
            left.append(f"{field['name']} is {kind}; {error.hint}")
            continue
        if is_reserved(field["name"]):
            left.append(f"{field['name']}, whose name is reserved")
            continue
        declared.append(_declared(field, kind))
    return declared, left


def _fields(whole: str, app: str, dataset: "Dataset") -> Iterator[dict[str, Any]]:
    from tidegate.project.settings.settings import load_settings
    from tidegate.project.spark import spark_settings, warehouse
    from tidegate.spark_jobs.datasets.dataset_ref import dataset_ref
    from tidegate.spark_jobs.publication.table import read
    from tidegate.spark_jobs.session.session import session

    settings, ref = load_settings(), dataset_ref(app, dataset)
    frame = read(session(spark_settings(settings)), ref, warehouse(settings))
    if frame is None:
        raise UserError(
            f"{whole} has no table and no files yet, so its columns are not known",
            "run a program that writes it, or land files",
        )
    partitions = {name.lower() for name in ref.dimensions()}
    for field in frame.schema.jsonValue()["fields"]:
        if field["name"].lower() not in partitions:
            yield field


def _declared(field: dict[str, Any], kind: str) -> "DeclaredColumn":
    from tidegate.domain.model import DeclaredColumn

    comment = str(field["metadata"].get("comment", ""))
    unit = _COMMENT.fullmatch(comment)
    return DeclaredColumn(
        name=field["name"],
        type=kind,
        nullable=field["nullable"],
        unit=unit[2] if unit else "",
        description=unit[1] if unit else comment,
    )


def _written(column: "DeclaredColumn") -> str | dict[str, Any]:
    """Return a column as the YAML spells it: by its type alone where that says all."""
    more = {
        **({} if column.nullable else {"nullable": False}),
        **({"unit": column.unit} if column.unit else {}),
        **({"description": column.description} if column.description else {}),
    }
    return {"type": column.type, **more} if more else column.type
