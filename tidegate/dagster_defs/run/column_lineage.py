"""The lineage of the columns of an output, as Dagster shows it of a materialisation.

It is that of the deployed query of an SQL program. Dagster knows columns by their names only: a column
without a name, all columns of a table, and what is not known are left out.
"""

from typing import Any

from dagster import TableColumnDep, TableColumnLineage

from tidegate.dagster_defs.deployed.asset_plan import ProgramAssets
from tidegate.dagster_defs.deployed.names import key_of_dataset
from tidegate.domain.part_name import name_in, whole_name
from tidegate.domain.sql.column import ALL, Source
from tidegate.domain.sql.lineage import Lineage

METADATA = "dagster/column_lineage"
"""The key under which Dagster looks for it."""


def column_lineage(assets: ProgramAssets, output: str) -> dict[str, Any]:
    """Return the metadata of the columns of an output; empty where none is known.

    What it needs to know of other tables it takes from the program's own app, which a run has.
    """
    app = assets.app
    if not assets.program.sql:
        return {}
    writers = Lineage({app.name: app}).writers(whole_name(app.name, output))
    found = next((each.columns or () for each in writers if each.program == assets.ref), ())
    deps = {
        column.name: [_dep(assets, source) for source in column.sources]
        for column in found
        if column.name not in ("", ALL) and all(s.column not in (None, ALL) for s in column.sources)
    }
    return {METADATA: TableColumnLineage(deps)} if deps else {}


def _dep(assets: ProgramAssets, source: Source) -> TableColumnDep:
    name = name_in(assets.app.name, source.dataset)
    key = key_of_dataset(assets.app.name, name, assets.datasets.get(name))
    return TableColumnDep(asset_key=key, column_name=source.column or "")
