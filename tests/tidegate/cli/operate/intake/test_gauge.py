"""`tidegate gauge`: numbers that people and scripts report, and what is refused of them."""

import pytest

from tests.tidegate.project import Project

pytestmark = pytest.mark.slow  # whole commands


@pytest.fixture
def loaded(deployed: Project) -> Project:
    """A project whose daily report waits for a gauge."""
    deployed.edit("      - concurrency: {max: 1}", "      - load: {gauge: cpu, max: 80}")
    deployed.run("deploy")
    return deployed


def test_set_says_whom_it_holds_back(loaded: Project) -> None:
    assert loaded.run("gauge", "set", "cpu", "95.5") == (
        "gauge cpu is 95.5\nsales/report_daily: limit 80 is not met\n"
    )
    assert loaded.run("gauge", "set", "cpu", "80") == (
        "gauge cpu is 80\nsales/report_daily: limit 80 is met\n"
    )


def test_a_report_lets_the_waiting_job_run(loaded: Project) -> None:
    loaded.run("gauge", "set", "cpu", "95")
    loaded.arrive("2026-03-09", "2026-03-10")
    assert "W-LOAD" in loaded.run("jobs", "list")
    loaded.run("gauge", "set", "cpu", "10")
    loaded.arrive()
    assert "PENDING_LAUNCH" in loaded.run("jobs", "list")


def test_a_gauge_that_nobody_waits_for_is_kept_and_said_so(loaded: Project) -> None:
    assert 'no deployed schedule waits for a gauge cpy; did you mean "cpu"?' in loaded.run(
        "gauge", "set", "cpy", "1"
    )


def test_without_any_that_waits(deployed: Project) -> None:
    assert deployed.run("gauge", "list").startswith("No gauges are reported")
    assert "no deployed schedule waits for any" in deployed.run("gauge", "set", "cpu", "1")
    assert deployed.json("gauge", "list")[0]["value"] == 1.0


def test_the_list_shows_what_was_reported_and_who_waits(loaded: Project) -> None:
    printed = loaded.run("gauge", "list")
    assert "never reported" in printed
    assert "sales/report_daily <= 80" in printed
    loaded.run("gauge", "set", "cpu", "-0.5")
    loaded.run("gauge", "set", "disk", "1e3")
    assert [(row["name"], row["value"], row["limits"]) for row in loaded.json("gauge", "list")] == [
        ("cpu", -0.5, {"sales/report_daily": 80.0}),
        ("disk", 1000.0, {}),
    ]


REFUSED = [
    (["cpu", "nan"], "must be a finite number, got nan", "finite"),
    (["cpu", "inf"], "must be a finite number, got inf", "finite"),
    (["cpu", "-inf"], "must be a finite number, got -inf", "finite"),
    (["Cpu", "1"], "'Cpu' is not a valid name of a gauge", "cluster_cpu"),
    (["c p", "1"], "'c p' is not a valid name of a gauge", "cluster_cpu"),
]


def test_refused_with_a_remedy(loaded: Project) -> None:
    for arguments, message, hint in REFUSED:
        error = loaded.refused("gauge", "set", *arguments)
        assert message in error.message
        assert hint in error.hint
    assert loaded.json("gauge", "list")[0]["value"] is None


def test_a_value_that_is_no_number_is_a_mistake_in_the_command(loaded: Project) -> None:
    loaded.run("gauge", "set", "cpu", "lots", exit_code=64)
