"""The table's own log of publishes: what it remembers, and what it does not pretend to know."""

import pytest

from tidegate.spark_jobs.iceberg.table.log import (
    KEYS_LENGTH,
    LOG_LENGTH,
    RECENT_PUBLISHES,
    Publish,
    PublishLog,
    decode_log,
    encode_log,
)


def log_with(publishes: int) -> PublishLog:
    log = PublishLog()
    for number in range(1, publishes + 1):
        log = log.with_publish(Publish(commit=f"c{number}", token=100 - number % 3, snapshot=number))
    return log


def test_a_log_survives_its_text() -> None:
    assert decode_log(None) == PublishLog()
    assert decode_log(encode_log(log_with(5))) == log_with(5)
    with pytest.raises(ValueError):
        decode_log("a text of its own")


@pytest.mark.parametrize(
    ("publishes", "base", "commits"),
    [
        (0, 0, []),
        (3, 3, []),
        (3, 1, ["c2", "c3"]),
        (3, 4, None),  # the table is older than what was staged for it: another table, or restored
        (RECENT_PUBLISHES + 5, 5, RECENT_PUBLISHES),
        (RECENT_PUBLISHES + 5, 4, None),  # forgotten
    ],
)
def test_what_came_since(publishes: int, base: int, commits: list[str] | int | None) -> None:
    since = log_with(publishes).since(base)
    if commits is None or since is None:
        assert since is commits
    elif isinstance(commits, int):
        assert len(since) == commits
    else:
        assert [one.commit for one in since] == commits


def test_it_is_bounded_and_keeps_the_largest_token() -> None:
    log = log_with(RECENT_PUBLISHES + 7)
    assert (log.number, len(log.recent), log.top_token) == (RECENT_PUBLISHES + 7, RECENT_PUBLISHES, 100)
    assert log.find("c7") is None
    assert log.find("c8") is not None


def test_partitions_are_kept_while_they_are_few() -> None:
    def publish(*keys: str) -> Publish:
        return Publish(commit="c", token=1, snapshot=1, keys=keys)

    few, many = publish("2013-12-22", "é漢字"), publish("x" * KEYS_LENGTH, "y")
    log = PublishLog().with_publish(few).with_publish(publish()).with_publish(many)
    assert [one.keys for one in log.recent] == [few.keys, (), None]
    assert decode_log(encode_log(log)) == log


def test_a_log_without_partitions_is_read_as_one_that_does_not_tell_them() -> None:
    text = '{"number":1,"top_token":3,"recent":[{"commit":"c1","token":3,"snapshot":9}]}'
    (one,) = decode_log(text).recent
    assert (one.keys, one.whole) == (None, False)


def test_its_text_has_a_limit() -> None:
    """Partitions are forgotten before publishes, and the oldest first."""
    log = PublishLog()
    for number in range(RECENT_PUBLISHES):
        keys = (f"{number:0{KEYS_LENGTH}d}",)
        log = log.with_publish(Publish(commit=f"c{number}", token=1, snapshot=number, keys=keys))
        assert len(encode_log(log)) <= LOG_LENGTH + 100
    known = [one.keys is not None for one in log.recent]
    assert len(known) == RECENT_PUBLISHES
    assert known == sorted(known)
    assert known[-1]

    for number in range(3):
        log = log.with_publish(Publish(commit=f"{number}" * LOG_LENGTH, token=1, snapshot=number))
    assert [one.commit[0] for one in log.recent] == ["2"], "the newest always stays"
    assert log.number == RECENT_PUBLISHES + 3
