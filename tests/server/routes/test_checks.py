"""What checks have found, over REST and on the board: the newest run of each dataset, and those before."""

from datetime import timedelta

import pytest
from msgspec import structs

from tests.server.board.board import HTML
from tests.server.routes.test_withheld_commits import FAILED, PASSED, withhold
from tests.server.sales import SPEC, deployed
from tests.server.serving import NS, Served, problem
from tests.server.shop import fetched
from tidegate.domain.commits import CheckVerdict
from tidegate.scheduler.model.records.judged_run import CHECK_RESULTS, KEPT_RUNS
from tidegate.scheduler.model.records.token import Role

pytestmark = [pytest.mark.store]

CHECKS = f"{NS}/checks"


def publish(server: Served, commit: str, *verdicts: CheckVerdict, dataset: str = "sales/cleaned") -> None:
    """A run has published rows that were judged."""
    commits = server.service.commits
    token = commits.begin(commit, (dataset,), until=server.now + timedelta(minutes=2))
    assert commits.put(commit, (dataset,), token, "steps", (), verdicts, server.now) == "stored"


@pytest.fixture
def served(server: Served) -> Served:
    """A server of two apps: of one a run was published, and the next one withheld."""
    for app in ("sales", "other"):
        deployed(server, {**SPEC, "app": app})
    publish(server, "first", PASSED, structs.replace(FAILED, passed=True, found="9 rows: id never null"))
    withhold(server)
    publish(server, "theirs", structs.replace(PASSED, dataset="other/cleaned"), dataset="other/cleaned")
    return server


def test_the_newest_results_are_listed(served: Served):
    rows = fetched(served.client.get(CHECKS))["items"]

    assert [(row["dataset"], row["name"], row["state"], row["withheld"]) for row in rows] == [
        ("other/cleaned", "rows", "passed", False),
        ("sales/cleaned", "not_null_id", "failed", True),
        ("sales/cleaned", "rows", "passed", True),
    ]
    assert rows[1]["found"] == "3 of 9 rows: id is null"
    (failed,) = fetched(served.client.get(f"{CHECKS}?failed=true"))["items"]
    assert failed["name"] == "not_null_id"
    assert len(fetched(served.client.get(f"{CHECKS}?app=other"))["items"]) == 1


def test_a_dataset_has_a_history(served: Served):
    rows = fetched(served.client.get(f"{CHECKS}?dataset=sales/cleaned&history=true"))["items"]

    assert [(row["name"], row["state"], row["commit"]) for row in rows] == [
        ("not_null_id", "failed", "run-1.sales.clean"),
        ("not_null_id", "passed", "first"),
        ("rows", "passed", "run-1.sales.clean"),
        ("rows", "passed", "first"),
    ]
    problem(served.client.get(f"{CHECKS}?history=true"), 400)


def test_a_caller_sees_the_apps_of_its_token(served: Served):
    mine = served.of(served.token(Role.READ, app="other"))

    assert [row["dataset"] for row in fetched(mine.get(CHECKS))["items"]] == ["other/cleaned"]
    problem(mine.get(f"{CHECKS}?dataset=sales/cleaned"), 403)


def test_the_board_has_the_same_list(served: Served):
    text = served.client.get("/board/checks", headers=HTML).text

    assert "3 of 9 rows: id is null" in text and "not_null_id" in text


def test_a_release_and_the_next_run_change_what_is_newest(served: Served):
    for number in range(KEPT_RUNS + 2):
        publish(served, f"later-{number}", PASSED)

    rows = fetched(served.client.get(f"{CHECKS}?dataset=sales/cleaned"))["items"]
    with served.store.reading() as reader:
        kept = reader.records(CHECK_RESULTS, dataset=["sales/cleaned"])

    assert [(row["name"], row["commit"]) for row in rows] == [("rows", f"later-{KEPT_RUNS + 1}")]
    assert len(kept) == KEPT_RUNS and sum(run.newest_at is not None for run in kept) == 1
