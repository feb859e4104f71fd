"""`tidegate dev`: a mistake in the YAML changes nothing, and nothing to run is told at once."""

import pytest

from tests.tidegate.project import SALES, Project
from tidegate.cli.develop.dev import redeploy
from tidegate.project.settings import load_settings
from tidegate.scheduler.store.open import open_store


def deployed_schedules(project: Project) -> set[str]:
    store = open_store(load_settings(project.folder).store_url)
    try:
        with store.reading() as reader:
            return {state.name for state in reader.schedules()}
    finally:
        store.close()


def test_a_change_is_deployed(project: Project) -> None:
    assert redeploy(load_settings())
    project.write("sales", SALES.replace("report_at_six", "report_at_seven"))

    assert redeploy(load_settings())

    assert "report_at_seven" in deployed_schedules(project)


def test_a_mistake_leaves_what_was_deployed(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    redeploy(load_settings())
    project.write("sales", SALES.replace("make_report,", "make_nothing, bad: [,"))

    assert not redeploy(load_settings())

    assert "report_at_six" in deployed_schedules(project)
    assert "the previous deployment remains" in capsys.readouterr().err


def test_with_nothing_to_run_it_ends(project: Project) -> None:
    project.write("sales", "app: [")

    assert "no earlier deployment" in project.refused("dev").message
