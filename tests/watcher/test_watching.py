"""All folders of a project: none waits for another, and a deployment changes what is watched."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.scheduler.commands.test_deploy import NOW
from tests.watcher.landing import APP, NORTH, Landing, app
from tests.worlds.by import CLI
from tests.worlds.world import compiled_app
from tidegate.domain.model import App
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.model.records.watched import WATCHED_FOLDERS, WATCHED_PARTITIONS
from tidegate.watcher import look as looks
from tidegate.watcher.watching import SLOW_SECONDS, Watching, watched_of


class Project:
    """A watcher of both folders of the app."""

    def __init__(self, path: Path) -> None:
        self.landing = Landing(path)
        self.flags = Landing(path, dataset="shop/flags", store=self.landing.store)
        self.watching = Watching(self.landing.clock)
        self.apps: list[App] = [app()]

    def poke(self, seconds: float = 10.5) -> None:
        self.landing.clock.let_pass(seconds)
        landing = self.landing
        self.watching.poke(
            landing.store, landing.site, watched_of(landing.site, self.apps), landing.said.append
        )


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def joined() -> None:
    """Wait for the looks that have begun."""
    for thread in threading.enumerate():
        if thread.name == "tidegate-watch":
            thread.join(60)


def test_folders_are_looked_at_when_the_interval_is_over(project: Project) -> None:
    project.landing.land("a.parquet")
    for seconds in (0, 5, 5, 5, 10.5):
        project.poke(seconds)
        joined()

    assert project.landing.events() == [(NORTH, 5)]


def test_a_folder_that_does_not_answer_stops_no_other_and_is_noted(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, listing = threading.Event(), looks.list_folder

    def hanging(folder: str, *rest: Any) -> object:
        if folder.endswith("orders"):
            answers.wait(60)
        return listing(folder, *rest)

    monkeypatch.setattr(looks, "list_folder", hanging)
    project.flags.land("a.parquet", folder=".")

    def reported() -> bool:
        project.poke(SLOW_SECONDS)
        return project.landing.events() == [("", 5)]

    assert eventually(reported)
    with project.landing.store.reading() as reader:
        found = {each.dataset: each.problem for each in reader.records(WATCHED_FOLDERS, project="")}
    assert found["shop/flags"] == ""
    assert "has not ended after 120 s" in found["shop/orders"]

    answers.set()
    joined()
    project.poke()
    joined()
    with project.landing.store.reading() as reader:
        assert {each.problem for each in reader.records(WATCHED_FOLDERS, project="")} == {""}


def test_a_folder_that_fails_stops_no_other(project: Project) -> None:
    project.landing.root.rmdir()
    project.flags.land("a.parquet", folder=".")
    for _ in range(3):
        project.poke()
        joined()

    assert project.landing.events() == [("", 5)]
    assert any("there is no folder" in each for each in project.landing.said)


def test_what_is_not_watched_any_more_is_known_until_the_dataset_is_gone(project: Project) -> None:
    project.landing.land("a.parquet")
    for _ in range(2):
        project.poke()
        joined()
    project.landing.deploy("false")
    project.apps = [app("false")]
    project.poke()
    joined()
    project.landing.deploy()
    project.apps = [app()]
    for _ in range(3):
        project.poke()
        joined()
    assert project.landing.events() == [(NORTH, 5)]

    gone = compiled_app(APP.format(watch="true").replace("orders", "sales"))
    with project.landing.store.transaction() as transaction:
        deploy(transaction, {"shop": gone}, NOW, by=CLI)
    project.apps = [gone]
    project.poke()
    joined()
    with project.landing.store.reading() as reader:
        assert reader.records(WATCHED_PARTITIONS, dataset="shop/orders") == ()
        assert "shop/orders" not in {each.dataset for each in reader.records(WATCHED_FOLDERS, project="")}


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether something holds within a minute."""
    deadline = time.monotonic() + 60
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
