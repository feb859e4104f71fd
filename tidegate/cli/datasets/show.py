"""`tidegate datasets`: what is declared of a dataset, and what writes and reads it."""

from typing import TYPE_CHECKING, Any

import typer

from tidegate.cli.datasets.named import AppOption, DatasetArgument, datasets_of, known_apps, whole_name_of
from tidegate.cli.printing import Format, FormatOption, print_json, print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidegate.domain.model import App, Dataset, DeclaredColumn

app = typer.Typer(no_args_is_help=True, help="Show what is declared of a dataset.")


@app.callback()
def datasets() -> None:
    """Show what is declared of a dataset."""


@app.command("show")
def show_dataset(dataset: DatasetArgument, app: AppOption = None, format: FormatOption = Format.TEXT) -> None:
    """Show a dataset: where and how it is stored, what writes and reads it, and its columns."""
    from tidegate.cli.datasets.named import YAML
    from tidegate.domain.part_name import Ref

    source, apps = known_apps(format, dataset)
    whole = whole_name_of(dataset, app, apps, datasets_of(apps))
    of = Ref.of(whole)
    found = apps[of.app].datasets[of.name]
    writers, readers = _programs(apps, whole, "writes"), _programs(apps, whole, "reads")
    if format is Format.JSON:
        print_json(_item(source, whole, found, writers, readers))
        return
    if source == YAML:
        print_line("of the YAML: nothing is deployed", err=True)
    print_table(["dataset", whole], _facts(found, writers, readers))
    if found.columns:
        typer.echo()
        print_table(["column", "type", "null", "unit", "description"], list(map(_row, found.all_columns())))


def _programs(apps: "Mapping[str, App]", dataset: str, use: str) -> list[str]:
    """Return the programs that write or read a dataset, "app/program"."""
    from tidegate.domain.part_name import whole_name

    return sorted(
        f"{app.name}/{program.name}"
        for app in apps.values()
        for program in app.programs.values()
        if dataset in {whole_name(app.name, each) for each in getattr(program, use)}
    )


def _item(
    source: str, whole: str, dataset: "Dataset", writers: list[str], readers: list[str]
) -> dict[str, Any]:
    from tidegate.compiler.fingerprint import canonical

    return {
        "source": source,
        "dataset": whole,
        "written_by": writers,
        "read_by": readers,
        **{key: value for key, value in canonical(dataset, defaults=True).items() if key != "name"},
        "write": dataset.write_mode(),
        "columns": dataset.all_columns(),
    }


def _facts(dataset: "Dataset", writers: list[str], readers: list[str]) -> list[list[str]]:
    dimensions = dataset.partitions.dimension_names() if dataset.partitions is not None else ()
    place = dataset.path or ("" if dataset.asset else "in the warehouse")
    facts = {
        "description": dataset.description,
        "asset": "/".join(dataset.asset),
        "format": "" if dataset.asset else dataset.format,
        "write": "" if dataset.asset else dataset.write_mode(),
        "merge keys": ", ".join(dataset.merge_keys),
        "partitions": ", ".join(dimensions) or "none",
        "path": place,
        "owner": dataset.owner,
        "written by": ", ".join(writers) or "no program: it lands from outside",
        "read by": ", ".join(readers) or "no program",
        "new columns": dataset.on_new_column if dataset.columns else "",
    }
    return [[name, value] for name, value in facts.items() if value]


def _row(column: "DeclaredColumn") -> list[str]:
    null = "" if column.nullable else "no"
    return [column.name, column.type, null, column.unit, column.description]
