"""The command line of a user that may read the project and its store, and not write them."""

from collections.abc import Generator

import pytest

from tests.doubles.reader_user import open_to_readers, reader_of
from tests.tidegate.project import Project

pytestmark = pytest.mark.slow  # whole commands


@pytest.fixture
def readable(monkeypatch: pytest.MonkeyPatch) -> Generator[Project, None, None]:
    """A deployed project that the test's user may enter, with a waiting job."""
    monkeypatch.delenv("TIDEGATE_PROJECT", raising=False)
    monkeypatch.delenv("TIDEGATE_STORE_URL", raising=False)
    with open_to_readers() as folder:
        monkeypatch.chdir(folder)
        project = Project(folder)
        project.run("deploy")
        project.arrive("2026-03-09")
        yield project


READS = (
    (("why", "report_daily"), "would unblock it"),
    (("jobs", "list"), "report_daily"),
    (("schedules", "list"), "report_daily"),
    (("schedules", "show", "report_daily"), "orders"),
    (("events", "list"), "2026-03-09"),
    (("tasks", "list"), "No tasks"),
    (("instances", "list"), "No instances"),
    (("day",), "No instances"),
    (("backfill", "status"), "No backfills"),
    (("ledger",), "report_daily"),
    (("commits", "list"), ""),
    (("gauge", "list"), ""),
    (("plan",), "No changes"),
    (("maintenance", "tables"), "sales/report"),
    (("maintenance", "plan"), "No policies"),
    (("maintenance", "status", "report"), "sales/report"),
    (("maintenance", "history"), "No operation"),
)
WRITES = (
    ("schedules", "trigger", "report_daily"),
    ("schedules", "suspend", "report_daily"),
    ("gauge", "set", "cpu", "80"),
    ("deploy",),
)


def test_every_command_that_reads_works_and_every_other_says_why_not(readable: Project) -> None:
    # given: the interpreter's own files may be closed to that user, so all modules are loaded before
    for command, part in READS:
        assert part in readable.run(*command)
    readable.run("schedules", "resume", "report_daily")
    with reader_of(readable.folder):
        for command, part in READS:
            assert part in readable.run(*command)
        for command in WRITES:
            refused = readable.refused(*command)
            assert "cannot be written by this user" in refused.message, command
            assert "a user that may write the store" in refused.hint
