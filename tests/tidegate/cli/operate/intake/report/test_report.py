"""`tidegate report`: what a pipeline elsewhere says about sources."""

import pytest

from tests.tidegate.tasks import DAY, EIGHT, NINE, TEN, TaskProject

pytestmark = pytest.mark.slow  # whole commands


def test_hours_are_reported_by_key_and_once_for_a_request(tasks: TaskProject) -> None:
    printed = tasks.project.run("report", "shop/feed", EIGHT, NINE, "--request", "r1")
    assert printed == f"shop/feed {EIGHT} successful: reported\nshop/feed {NINE} successful: reported\n"
    printed = tasks.project.run("report", "feed", TEN, "--status", "failed", "--request", "r1")
    assert printed.startswith("request r1 was reported before; nothing is changed\n")
    assert tasks.project.json("report", "feed", TEN, "--status", "failed") == {
        "task": "shop/feed",
        "status": "failed",
        "instances": {TEN: "reported"},
        "repeated": False,
    }


def test_a_range_and_a_time_without_an_instance(tasks: TaskProject) -> None:
    answer = tasks.project.json("report", "feed", "--from", f"{DAY}-09:00", "--to", f"{DAY}-23:00")
    assert list(answer["instances"]) == [NINE, TEN]
    assert tasks.project.json("report", "feed", "2026-03-01-03:00")["instances"] == {
        "2026-03-01-03:00": "made"
    }


@pytest.mark.parametrize(
    "arguments", [(), (EIGHT, "--from", EIGHT), ("--from", EIGHT), (EIGHT, "--status", "done")]
)
def test_wrong_usage_ends_with_64(tasks: TaskProject, arguments: tuple[str, ...]) -> None:
    tasks.project.run("report", "feed", *arguments, exit_code=64)


def test_what_cannot_be_reported_is_refused(tasks: TaskProject) -> None:
    refused = tasks.project.refused
    assert "E-TASK" in refused("report", "clean", EIGHT).message
    assert "E-RANGE" in refused("report", "feed", "--from", NINE, "--to", EIGHT).message
    assert "E-TIME" in refused("report", "feed", "2126-03-10-08:00").message
