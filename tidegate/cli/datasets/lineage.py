"""`tidegate lineage`: the datasets and columns that a dataset, or one column of it, comes from.

The columns are those of the deployed queries of SQL programs; without a store, or before a deployment, of the
project's YAML. Of other programs the datasets are shown that they read.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.datasets.named import YAML, AppOption, known_apps, whole_name_of
from tidegate.cli.printing import Format, FormatOption, print_json, print_line
from tidegate.domain.error import UserError

if TYPE_CHECKING:
    from tidegate.domain.sql.column import Step
    from tidegate.domain.sql.lineage import Lineage


def lineage(
    dataset: Annotated[
        str,
        typer.Argument(
            help="Name of the dataset, with its app or alone; or DATASET.COLUMN.", show_default=False
        ),
    ],
    app: AppOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Show which columns of which datasets a dataset, or a column of it, comes from."""
    from tidegate.domain.sql.lineage import Lineage

    name, _, column = dataset.partition(".")
    origin, apps = known_apps(format, name)
    found = Lineage(apps)
    whole = whole_name_of(name, app, apps, found.datasets)
    _check_column(found, whole, column)
    steps = found.upstream(whole, column)
    if format is Format.JSON:
        print_json({"source": origin, "dataset": whole, "column": column or None, "steps": steps})
        return
    if origin == YAML:
        print_line("of the YAML: nothing is deployed", err=True)
    for line in _lines(steps, [(whole, each) for each in ([column] if column else found.columns(whole))]):
        print_line(line)


def _check_column(lineage: "Lineage", dataset: str, column: str) -> None:
    """Refuse a column that no program writes, where the columns of all that write are known."""
    from tidegate.domain.sql.column import ALL
    from tidegate.domain.suggest import did_you_mean

    writers = lineage.writers(dataset)
    if not column or not writers:
        return
    if any(writer.columns is None or writer.column(column) is not None for writer in writers):
        return
    known = {each.name for writer in writers for each in writer.columns or ()} - {"", ALL}
    raise UserError(f'dataset {dataset} has no column "{column}"', did_you_mean(column, known, "columns"))


def _lines(steps: "Sequence[Step]", roots: "Sequence[tuple[str, str | None]]") -> Iterator[str]:
    """Yield the lines of a tree: what a column comes from is below it, once."""
    by_key = {(step.dataset, (step.column or "").lower()): step for step in steps}
    above: set[tuple[str, str]] = set()
    waiting = [(0, by_key[name, (column or "").lower()], False) for name, column in reversed(roots)]
    while waiting:
        depth, step, of_known = waiting.pop()
        key = (step.dataset, (step.column or "").lower())
        again = key in above and bool(step.sources)
        yield f"{'  ' * depth}{_label(step, of_known)}{', see above' if again else ''}"
        if not again:
            above.add(key)
            nearest = (by_key[each.dataset, (each.column or "").lower()] for each in step.sources)
            waiting += [
                (depth + 1, each, step.known and step.column is not None) for each in reversed([*nearest])
            ]


def _label(step: "Step", of_known: bool) -> str:
    """Return a column as people read it.

    Args:
        of_known: whether the columns are known of what comes from it.
    """
    from tidegate.domain.sql.column import ALL

    text = f"{step.dataset}.{step.column}"
    if step.column is None:
        text = f"{step.dataset}, which column is not known" if of_known else step.dataset
    elif step.column == ALL:
        text = f"{step.dataset}, all columns"
    if step.known:
        return text
    return f"{text} (written by {', '.join(step.programs)}, whose columns are not known)"
