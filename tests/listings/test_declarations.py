"""Each list is declared whole: its fields, filters, order, query and actions exist, and load no engine."""

import inspect
import re
import subprocess
import sys
from enum import StrEnum

import msgspec
import pytest

from tidegate.listings.declared import LISTINGS
from tidegate.listings.listing import Listing, load

LOADED = "import sys; {}; print('\\n'.join(each for each in sys.modules if each.startswith('tidegate')))"

DECLARATIONS = {"tidegate", "tidegate.domain", "tidegate.listings"}


def loaded(statement: str) -> set[str]:
    """The modules of the package that a statement loads in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(statement)], capture_output=True, text=True, check=True
    )
    return {line for line in done.stdout.split("\n") if re.fullmatch(r"tidegate[\w.]*", line)}


def room(module: str) -> str:
    return ".".join(module.split(".")[:2])


def test_declarations_load_no_engine():
    assert {room(each) for each in loaded("import tidegate.listings.declared")} <= DECLARATIONS


def test_the_help_loads_no_more_than_the_frame_of_the_commands_and_declarations():
    call = "from tidegate.cli.main import application; application(['--help'], standalone_mode=False)"
    rest = {each for each in loaded(call) if room(each) not in DECLARATIONS}
    assert rest <= {
        "tidegate.cli",
        "tidegate.cli.commands",
        "tidegate.cli.main",
        "tidegate.cli.plain_values",
        "tidegate.cli.terminal",
        "tidegate.project",
        "tidegate.project.environment",
    }


@pytest.mark.parametrize("listing", LISTINGS.values(), ids=list(LISTINGS))
def test_a_declaration_names_what_exists(listing: Listing):
    fields = [field.name for field in msgspec.structs.fields(listing.item)]
    members = {*fields, *(name for name, _ in inspect.getmembers(listing.item, inspect.isdatadescriptor))}
    documented = "".join(each.__doc__ or "" for each in listing.item.__mro__)
    assert [name for name in fields if f"{name}" not in documented] == []
    assert {column.name for column in listing.columns} <= members
    assert {name.removeprefix("-") for name in listing.order} <= set(fields)
    assert any(column.priority == 1 for column in listing.columns)
    assert list(inspect.signature(load(listing.query)).parameters) == ["asked"]
    for each in listing.filters:
        assert (each.kind == "state") == bool(each.of)
        assert not each.of or issubclass(load(each.of), StrEnum)
    for action in listing.actions:
        assert callable(load(action.do)) and callable(load(action.check))


def test_names_are_unique_and_spelled_alike():
    for listing in LISTINGS.values():
        names = [each.name for each in listing.filters]
        assert len(names) == len(set(names))
        for each in listing.filters:
            expected = {"app": "app", "schedule": "schedule", "since": "instant", "ended": "instant"}
            assert each.kind == expected.get(each.name, each.kind), listing.name
