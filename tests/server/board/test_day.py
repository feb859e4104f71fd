"""*Day*: the matrix and the graph of a day, and what each cell has to say."""

from datetime import timedelta

import pytest

from tests.server.board.board import HTML, shown
from tests.server.serving import Served, problem
from tests.server.shop import THIRTEEN, TODAY, shop
from tidegate.scheduler.model.records.token import Role

pytestmark = [pytest.mark.store]

DAY = f"/board/day?day={TODAY}"


@pytest.fixture
def served(server: Served) -> Served:
    """A server with the tasks of an app, at noon before their first hour."""
    shop(server)
    server.pass_time(timedelta(minutes=1))
    return server


def test_edges_lead_from_upstream_instances_to_their_consumers(served: Served):
    view = shown(served, DAY)
    cells = {cell["id"]: (row["task"], cell) for row in view["rows"] for cell in row["cells"] if cell}
    of_hour = [
        (cells[arrow["source"]][0], cells[arrow["target"]][0])
        for arrow in view["arrows"]
        if cells[arrow["source"]][1]["jobs"][0][1] == THIRTEEN
    ]
    assert of_hour == [("shop/feed", "shop/clean")]
    (source,) = [
        cell for task, cell in cells.values() if task == "shop/feed" and cell["jobs"][0][1] == THIRTEEN
    ]
    assert source["consumers"] == [f"shop/clean {THIRTEEN}"]
    html = served.client.get(DAY, headers=HTML).text
    assert f'href="#{source["id"]}"' in html and f'id="{source["id"]}"' in html
    assert f"tidegate why shop/feed {THIRTEEN}" in html
    assert html.count('class="edge"') == len(view["arrows"])


def test_a_cell_leads_to_its_jobs(served: Served):
    view = shown(served, DAY)
    cell = next(cell for row in view["rows"] for cell in row["cells"] if cell)
    assert [each["instance"]["job"] for each in cell["details"]] == [id_ for id_, _ in cell["jobs"]]
    assert f'href="/board/jobs/{cell["jobs"][0][0]}"' in served.client.get(DAY).text


def test_too_many_cells_lead_to_the_list_of_instances(served: Served, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tidegate.server.board.day.NODES_MAX", 3)
    view = shown(served, DAY)
    assert (view["drawn"], view["arrows"]) == (False, [])
    html = served.client.get(DAY, headers=HTML).text
    assert f"{view['nodes']} nodes are too many to draw; choose an app" in html
    assert f'href="/board/instances?task=shop/clean&amp;day={TODAY}"' in html


def test_a_page_has_a_bounded_number_of_instances(served: Served, monkeypatch: pytest.MonkeyPatch):
    whole = shown(served, f"{DAY}&sign=N")
    assert len(whole["listed"]) > 3 and whole["more"] == 0
    monkeypatch.setattr("tidegate.server.board.day.LISTED_MAX", 3)
    monkeypatch.setattr("tidegate.server.board.day.DETAILED_IN_ALL", 0)
    view = shown(served, f"{DAY}&sign=N")
    assert view["listed"] == whole["listed"][:3] and view["more"] == len(whole["listed"]) - 3
    cells = [cell for row in view["rows"] for cell in row["cells"] if cell]
    assert {len(cell["details"]) for cell in cells} == {1}
    assert sum(cell["instances"] for cell in cells) == sum(each["instances"] for each in view["counts"])
    html = served.client.get(f"{DAY}&sign=N", headers=HTML).text
    assert f'<a href="/board/instances?day={TODAY}">and {view["more"]} more</a>' in html


def test_an_app_narrows_it(served: Served):
    shop(served, "store")
    assert {row["task"].partition("/")[0] for row in shown(served, DAY)["rows"]} == {"shop", "store"}
    assert {row["task"].partition("/")[0] for row in shown(served, f"{DAY}&app=store")["rows"]} == {"store"}
    problem(served.client.get(f"{DAY}&app=none"), 404)
    problem(served.of(served.token(Role.READ, app="shop")).get(f"{DAY}&app=store"), 403)
