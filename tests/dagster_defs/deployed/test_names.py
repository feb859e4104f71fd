"""Names: the YAML's own where they are free, unambiguous everywhere."""

import pytest

from tidegate.dagster_defs.deployed.names import asset_key, program_key, unique_names
from tidegate.domain.model import App, Dataset, Program

pytestmark = pytest.mark.dagster


@pytest.mark.parametrize(
    ("owned", "expected"),
    [
        ([("a", "x")], {("a", "x"): "x"}),
        ([("a", "x"), ("b", "x")], {("a", "x"): "a__x", ("b", "x"): "b__x"}),
        ([("a", "x"), ("b", "x"), ("b", "y")], {("a", "x"): "a__x", ("b", "x"): "b__x", ("b", "y"): "y"}),
        ([("a", "config")], {("a", "config"): "a__config"}),
    ],
    ids=["free", "shared", "shared beside free", "reserved by Dagster"],
)
def test_a_name_is_as_in_the_yaml_unless_it_is_taken(
    owned: list[tuple[str, str]], expected: dict[tuple[str, str], str]
) -> None:
    assert unique_names(owned) == expected


def test_even_names_made_to_collide_stay_apart() -> None:
    owned = [("a", "x"), ("b", "x"), ("c", "a__x")]

    names = unique_names(owned)

    assert len(set(names.values())) == 3
    assert unique_names(reversed(owned)) == names, "the order in which they are given must not matter"


def test_a_program_without_outputs_has_an_asset_that_no_dataset_has() -> None:
    program = Program(name="notify", run="m.notify")

    assert program_key(App(name="a"), program).path == ["a", "notify"]
    assert program_key(App(name="a", datasets={"notify": Dataset(name="notify")}), program).path == [
        "a",
        "notify_program",
    ]
    assert asset_key("a", "raw").path == ["a", "raw"]
