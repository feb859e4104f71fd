"""A list is the same in all its faces: options, parameters, fields of the form, items and columns."""

from typing import Any

import pytest

from tests.server.board.board import HTML
from tests.server.serving import Served
from tidegate.cli.main import load_command
from tidegate.listings.declared import LISTINGS
from tidegate.listings.listing import Listing
from tidegate.server.board.rendering import columns

pytestmark = [pytest.mark.store]

COMMANDS = {
    "late": ("late",),
    "jobs": ("jobs", "list"),
    "overrides": ("overrides", "list"),
    "instances": ("instances", "list"),
    "deployments": ("deployments", "log"),
    "events": ("events", "list"),
    "alerts": ("alerts", "list"),
    "checks": ("checks", "list"),
    "commits": ("commits", "list"),
    "ledger": ("ledger",),
    "schedules": ("schedules", "list"),
    "tables": ("maintenance", "tables"),
    "tasks": ("tasks", "list"),
    "gauges": ("gauge", "list"),
    "watermarks": ("watermarks", "list"),
    "backfills": ("backfill", "status"),
}
"""The command of each list."""

PARAMETERS = pytest.mark.parametrize("listing", LISTINGS.values(), ids=list(LISTINGS))


def options_of(listing: Listing) -> set[str]:
    first, *rest = COMMANDS[listing.name]
    command: Any = load_command(first)
    for word in rest:
        command = command.commands[word]
    options = {option.removeprefix("--") for each in command.params for option in each.opts}
    return options | {option.replace("-", "_") for option in options}


PAGES_ELSEWHERE = {"tables": "/board/maintenance"}
"""The page of a list that is not at /board/ with its name."""


def page_of(listing: Listing) -> str:
    return PAGES_ELSEWHERE.get(listing.name, f"/board/{listing.name}")


def route_of(listing: Listing, document: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The path of a list, the shortest of several, and what the document says of it."""
    name = f"list_{listing.name.replace('-', '_')}_"
    paths = (
        path
        for path, methods in document["paths"].items()
        if methods.get("get", {}).get("operationId", "").startswith(name)
    )
    path = min(paths, key=len)
    return path, document["paths"][path]["get"]


@PARAMETERS
def test_filters_are_the_same_in_a_terminal_over_rest_and_on_the_board(listing: Listing, server: Served):
    filters = {each.name for each in listing.filters}
    _, route = route_of(listing, server.client.get("/openapi.json").json())
    assert {each["name"] for each in route["parameters"]} - {"ns"} == filters | {"limit", "cursor"}
    assert filters | {"limit"} <= options_of(listing)
    html = server.client.get(page_of(listing), headers=HTML).text
    # A field of the form, or the chips of a state.
    chips = {name for name in filters if f"?{name}=" in html or f"&amp;{name}=" in html}
    assert [name for name in filters - chips if f'name="{name}"' not in html] == []
    assert {each.name for each in columns(listing, [])} == {each.name for each in listing.whole}


@PARAMETERS
def test_the_json_of_a_page_is_the_answer_of_rest(listing: Listing, server: Served):
    path, _ = route_of(listing, server.client.get("/openapi.json").json())
    answer = server.client.get(f"{path.replace('{ns}', 'default')}?limit=1")
    assert server.client.get(f"{page_of(listing)}?format=json&limit=1").content == answer.content


@PARAMETERS
def test_the_answer_is_described_field_by_field(listing: Listing, server: Served):
    document = server.client.get("/openapi.json").json()
    _, route = route_of(listing, document)
    name = route["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    items = document["components"]["schemas"][name]["properties"]["items"]["items"]
    item = document["components"]["schemas"][items["$ref"].rpartition("/")[2]]
    assert list(item["properties"]) == list(listing.item.__struct_fields__)
    assert [field for field, schema in item["properties"].items() if not schema.get("description")] == []
