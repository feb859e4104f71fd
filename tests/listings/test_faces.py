"""A list is the same in all its faces: options, parameters, fields of the form, items and columns."""

from typing import Any

import pytest

from tests.server.board.board import HTML
from tests.server.serving import NS, Served
from tidegate.cli.main import load_command
from tidegate.listings.declared import LISTINGS
from tidegate.listings.listing import Listing

pytestmark = [pytest.mark.store]

COMMANDS = {"late": ("late",), "jobs": ("jobs", "list")}
"""The command of each list."""

PARAMETERS = pytest.mark.parametrize("listing", LISTINGS.values(), ids=list(LISTINGS))


def options_of(listing: Listing) -> set[str]:
    first, *rest = COMMANDS[listing.name]
    command: Any = load_command(first)
    for word in rest:
        command = command.commands[word]
    return {option.removeprefix("--") for each in command.params for option in each.opts}


@PARAMETERS
def test_filters_are_the_same_in_a_terminal_over_rest_and_on_the_board(listing: Listing, server: Served):
    filters = {each.name for each in listing.filters}
    paths = server.client.get("/openapi.json").json()["paths"]
    parameters = paths[f"/v3/namespaces/{{ns}}/{listing.name}"]["get"]["parameters"]
    assert {each["name"] for each in parameters} - {"ns"} == filters | {"limit", "cursor"}
    assert filters | {"limit"} <= options_of(listing)
    html = server.client.get(f"/board/{listing.name}", headers=HTML).text
    assert [name for name in filters if f'name="{name}"' not in html] == []
    assert [each.title for each in listing.columns if f">{each.title.capitalize()}</th>" not in html] == []


@PARAMETERS
def test_the_json_of_a_page_is_the_answer_of_rest(listing: Listing, server: Served):
    page = server.client.get(f"/board/{listing.name}?format=json&limit=1")
    assert page.content == server.client.get(f"{NS}/{listing.name}?limit=1").content


@PARAMETERS
def test_the_answer_is_described_field_by_field(listing: Listing, server: Served):
    document = server.client.get("/openapi.json").json()
    answer = document["paths"][f"/v3/namespaces/{{ns}}/{listing.name}"]["get"]["responses"]["200"]
    name = answer["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    items = document["components"]["schemas"][name]["properties"]["items"]["items"]
    item = document["components"]["schemas"][items["$ref"].rpartition("/")[2]]
    assert list(item["properties"]) == list(listing.item.__struct_fields__)
    assert [field for field, schema in item["properties"].items() if not schema.get("description")] == []
