"""What the host's own instance does not ask again."""

import pytest
from dagster import DagsterInstance

from tidegate.dagster_defs.host.instance import KEPT_SECONDS, Answers, prepare


def test_a_yes_is_kept_for_a_while_and_a_no_is_asked_again() -> None:
    asked: list[str] = []
    known = {"a"}
    now = [0.0]

    def ask(about: str) -> bool:
        asked.append(about)
        return about in known

    answers = Answers(ask, clock=lambda: now[0])
    assert [answers("a"), answers("a"), answers("b"), answers("b")] == [True, True, False, False]
    assert asked == ["a", "b", "b"]

    now[0] += KEPT_SECONDS
    known.clear()
    assert not answers("a")


@pytest.mark.dagster
def test_a_prepared_instance_keeps_what_its_storages_answer(disk_instance: DagsterInstance) -> None:
    prepare(disk_instance)
    runs, events = disk_instance.run_storage, disk_instance.event_log_storage
    for storage, name in (
        (runs, "has_run_stats_index_cols"),
        (runs, "has_job_snapshot"),
        (events, "has_table"),
    ):
        assert isinstance(getattr(storage, name), Answers)
