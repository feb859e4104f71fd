"""The figures of the product are counted as their module says."""

import tomllib

import pytest

from tests.test_tidy import PRODUCT, sources
from tests.tidy.circles import MIN_FILE_LINES, SMALL, check_floor
from tests.tidy.figures import ROOT, STORE, Lines, count_lines, count_own, loaded_modules, rows, store_methods
from tests.tidy.finding import Source

NOT_FOR_LISTS = (
    "tidegate.scheduler.decision",
    "tidegate.scheduler.tick",
    "tidegate.scheduler.retention",
    "tidegate.scheduler.store.sql.migrations",
)
"""What no list needs: it reads the store, and decides, moves, prunes and migrates nothing."""

TICK, DEPLOYMENT = "tidegate.scheduler.tick.tick", "tidegate.scheduler.commands.deployment.deploy"

MODULES_MAX = {"lint": 220, "jobs list": 210, "status": 248, "why daily": 354}
"""So many modules of the product these commands load; each one is time before their first line."""

ENGINE_METHODS_MAX = 85
"""So many methods the store in memory has: a new question is a filter of a query, or a kind of records."""

STORE_FLOORS_MAX = 10
"""So many layers the store has in its import contract."""

MODULE = '''\
"""What it is.

More of it.
"""

LIMIT = 3  # of rows
"""How many."""


# Only a comment.
def text() -> str:
    """Return a text of two lines."""
    return """one
    two"""
'''


def test_each_line_is_code_a_docstring_a_comment_or_blank() -> None:
    counted = count_lines(MODULE)
    assert counted == Lines(all=14, code=4, docstrings=6, comments=1)
    assert counted.blank == 3


def test_the_protocols_of_the_store_are_found_by_name() -> None:
    found = store_methods()
    assert found
    assert all(methods and parts for methods, parts in found.values())


def test_the_store_stays_small() -> None:
    assert store_methods()["EngineTransaction"][0] <= ENGINE_METHODS_MAX
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (floors,) = (each["layers"] for each in contracts if each.get("containers") == [STORE])
    assert len(floors) <= STORE_FLOORS_MAX


def test_small_files_have_two_users_or_are_kinds_and_the_others_become_fewer() -> None:
    of_product = [source for source in sources() if source.package == PRODUCT]
    assert {finding.path for finding in check_floor(of_product)} == SMALL


@pytest.mark.parametrize(
    ("path", "importers", "found"),
    [
        ("tidegate/domain/x.py", ["tidegate/domain/y.py"], 1),
        ("tidegate/domain/x.py", ["tidegate/domain/y.py", "tidegate/cli/z.py"], 0),
        ("tidegate/domain/model/triggers/x.py", ["tidegate/domain/y.py"], 0),
    ],
)
def test_the_floor_catches_a_small_file_of_one_user(path: str, importers: list[str], found: int) -> None:
    module = path.removesuffix(".py").replace("/", ".")
    users = [Source(path=each, text=f"import {module}\n" * MIN_FILE_LINES) for each in importers]
    assert len([*check_floor([Source(path=path, text="x = 1\n"), *users])]) == found


def test_the_modules_are_those_that_a_command_has_loaded() -> None:
    loaded = loaded_modules()
    assert "tidegate.compiler.compile" in loaded["lint"]
    assert "tidegate.compiler.compile" not in loaded["--help"]
    assert "tidegate.cli.operate.jobs" in loaded["jobs list"]


def test_no_command_loads_what_typer_converts_with() -> None:
    assert {
        name for names in loaded_modules().values() for name in names if name.startswith("pydantic")
    } == set()


def test_what_only_looks_loads_no_yaml() -> None:
    """The settings of Dagster that a new project gets are known without it."""
    loaded = loaded_modules()
    assert not {"yaml"} & {*loaded["jobs list"], *loaded["status"], *loaded["why daily"]}


def test_what_only_looks_loads_no_tick() -> None:
    loaded = loaded_modules()
    assert not {TICK, DEPLOYMENT} & {*loaded["status"], *loaded["why daily"]}


def test_a_list_loads_nothing_of_the_engine_but_what_it_reads() -> None:
    rooms = tuple(f"{room}." for room in NOT_FOR_LISTS)
    assert [name for name in loaded_modules()["jobs list"] if f"{name}.".startswith(rooms)] == []


def test_commands_that_people_wait_for_load_few_modules() -> None:
    numbers = {command: count_own(loaded_modules()[command]) for command in MODULES_MAX}
    assert {command: number for command, number in numbers.items() if number > MODULES_MAX[command]} == {}


def test_the_table_has_a_figure_in_each_row() -> None:
    assert all(value[0].isdigit() for _, value in rows())
