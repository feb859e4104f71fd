"""The compaction at the end of the demo: what is said if it fails, or if its table cannot be measured."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tidegate.demo.project import make_project, replacements
from tidegate.demo.run import Demo
from tidegate.demo.summary import print_compaction
from tidegate.domain.error import UserError
from tidegate.scheduler.launch.outbox import offer_launches
from tidegate.scheduler.launch.run_report import claim, end_operation
from tidegate.scheduler.model.maintenance import Ended, Ending

pytestmark = [pytest.mark.dagster, pytest.mark.store]

UNMEASURED = Ended(
    ending=Ending.SUCCEEDED, changed=True, before={"files": 9}, after={"files": 1, "snapshots": 4}
)


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    """The demo, deployed, without its processes."""
    made = Demo(make_project(tmp_path / "project", replacements(datetime.now(UTC))))
    made.deploy()
    yield made
    made.store.close()


def compacting(demo: Demo, monkeypatch: pytest.MonkeyPatch, ended: Ended) -> None:
    """Instead of waiting: the run that was asked for ends so."""

    def until(*_: object) -> None:
        now = datetime.now(UTC)
        with demo.store.transaction() as transaction:
            (launch,) = offer_launches(transaction, now, "flights")
        assert claim(demo.store, launch.job, launch.attempt, "run-1", now).won
        with demo.store.transaction() as transaction:
            assert end_operation(transaction, launch.job, launch.attempt, ended, now)

    monkeypatch.setattr(demo, "_until", until)


def test_a_compaction_that_fails_ends_the_demo(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    compacting(demo, monkeypatch, Ended(ending=Ending.FAILED, detail="no space left"))

    with pytest.raises(UserError) as raised:
        demo.maintain()

    assert raised.value.message == "the compaction of flights/weather_log failed: no space left"
    assert str(demo.site.logs) in raised.value.hint


def test_what_could_not_be_measured_is_left_out_of_the_summary(
    demo: Demo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compacting(demo, monkeypatch, UNMEASURED)
    said: list[str] = []

    print_compaction(demo.maintain(), said.append)

    assert "flights/weather_log before and after rewrite_data_files" in said[0]
    _, *rows = capsys.readouterr().out.splitlines()
    assert rows[-1].split() == ["files", "9", "1"]
    assert not any("snapshots" in row for row in rows)
