"""The lineage of columns at the materialisations of an SQL program, by the keys that Dagster has."""

import msgspec
import pytest
from dagster import AssetKey, DagsterInstance, TableColumnDep

from tests.dagster_defs.run.test_program_op import Runner, add_job, execute
from tests.dagster_defs.sample import deploy, location_of, sample_app
from tests.doubles.reference.store import ReferenceStore
from tidegate.domain.model import Dataset, Program, SqlQuery
from tidegate.spark_jobs import runner as spark_runner

pytestmark = pytest.mark.dagster

TOTALS = """\
SELECT c.day, sum(c.amount) AS total, upper(c.Name), 1 AS one
FROM clean c JOIN rates r USING (day) GROUP BY ALL"""
BEST = "SELECT t.*, r.rate, other FROM totals t JOIN rates r USING (day)"


def program(*queries: tuple[str, str]) -> Program:
    return Program(
        name="report",
        sql=tuple(SqlQuery(output=name, file=f"{name}.sql", text=text) for name, text in queries),
        reads=("clean", "rates"),
        writes=tuple(name for name, _ in queries),
    )


def lineages(
    store: ReferenceStore, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch, each: Program
) -> dict[str, dict[str, list[TableColumnDep]]]:
    """The lineage at each materialisation of a run of the program, by dataset."""
    monkeypatch.setattr(spark_runner, "run_program", Runner())
    app = sample_app()
    others = {"rates": Dataset(name="rates", asset=("bank", "rates")), "best": Dataset(name="best")}
    others |= {"totals": Dataset(name="totals"), "clean": app.datasets["clean"]}
    programs = {"clean": app.programs["clean"], "report": each}
    app = msgspec.structs.replace(app, datasets={**app.datasets, **others}, programs=programs, schedules={})
    deploy(store, app)
    tags = add_job(store, program="report")
    result = execute(location_of(store), instance, *each.writes, tags=tags)
    assert result.success
    found = {}
    for event in result.all_events:
        if event.is_step_materialization:
            materialization = event.step_materialization_data.materialization
            assert materialization.metadata["rows"].value == 0
            shown = materialization.metadata.get("dagster/column_lineage")
            deps = shown.value.deps_by_column if shown is not None else {}
            found[materialization.asset_key.path[-1]] = {name: list(each) for name, each in deps.items()}
    return found


def test_the_columns_of_outputs_are_shown_at_their_materialisations(
    store: ReferenceStore, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = AssetKey(["flights", "clean"])
    found = lineages(
        store,
        instance,
        monkeypatch,
        program(("totals", TOTALS), ("best", "SELECT total AS most FROM totals")),
    )
    assert found == {
        "totals": {
            "day": [TableColumnDep(clean, "day")],
            "total": [TableColumnDep(clean, "amount")],
            "one": [],
        },
        "best": {"most": [TableColumnDep(AssetKey(["flights", "totals"]), "total")]},
    }


def test_what_is_not_known_is_not_shown(
    store: ReferenceStore, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    each = program(("totals", "SELECT * FROM clean"), ("best", BEST))
    assert lineages(store, instance, monkeypatch, each) == {
        "totals": {},
        "best": {"rate": [TableColumnDep(AssetKey(["bank", "rates"]), "rate")]},
    }
