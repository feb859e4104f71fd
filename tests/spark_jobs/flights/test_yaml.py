"""schedules/flights.yaml: it compiles without a remark, and means what the Spark tests assume."""

from pathlib import Path

import msgspec
import pytest

from tests.spark_jobs.flights.app import DATASETS, PROGRAMS
from tidegate.compiler.compile import compile_files
from tidegate.domain.model import App, Dataset, Program
from tidegate.spark_jobs.programs.loading import load_program

FILE = Path(__file__).parents[3] / "schedules" / "flights.yaml"


@pytest.fixture(scope="module")
def app() -> App:
    compilation = compile_files({"schedules/flights.yaml": FILE.read_bytes()})
    assert compilation.diagnostics == ()
    return compilation.apps["flights"].app


def test_datasets_and_programs_are_those_of_the_tests(app: App) -> None:
    def bare(value: Dataset | Program) -> Dataset | Program:
        return msgspec.structs.replace(value, at=None, description="")

    assert {name: bare(dataset) for name, dataset in app.datasets.items()} == DATASETS
    assert {name: bare(program) for name, program in app.programs.items()} == PROGRAMS


def test_every_program_exists(app: App) -> None:
    for program in app.programs.values():
        assert callable(load_program(program.run))


def test_the_example_uses_what_it_promises(app: App) -> None:
    """Issue 2: suspend, window, concurrency and timeout in use, and who writes which partitions."""
    constraints = {type(c).__name__ for s in app.schedules.values() for c in s.constraints}
    assert {
        "WindowConstraint",
        "ConcurrencyConstraint",
        "SinceLastRunConstraint",
        "DelayConstraint",
    } == constraints
    assert {s.name for s in app.schedules.values() if s.status == "suspended"} == {
        "carrier_report_after_each_day",
        "flights_complete",
        "weather_by_hour",
    }
    assert {s.name: s.output_partition for s in app.schedules.values()} == {
        "clean_flights_daily": "key",
        "clean_weather_as_it_comes": "manifest",
        "delays_by_weather_nightly": "key",
        "carrier_report_weekly": "none",
        "carrier_report_after_each_day": "none",
        "refresh_reference_nightly": "none",
        "flights_complete": "none",
        "weather_by_hour": "business_date",
        "daily_totals": "business_date",
        "carrier_week": "business_date",
        "month_close": "business_date",
    }
    assert app.schedules["delays_by_weather_nightly"].timeout.then == "run"


def test_the_editor_finds_the_schema() -> None:
    first = FILE.read_text().splitlines()[0]
    assert first == "# yaml-language-server: $schema=../compiler/schema/app.schema.json"
    assert (FILE.parent / "../compiler/schema/app.schema.json").resolve().is_file()
