"""The table's own log of publishes: what it remembers, and what it does not pretend to know."""

import pytest

from spark_jobs.io.iceberg_log import (
    RECENT_PUBLISHES,
    Publish,
    PublishLog,
    decode_log,
    encode_log,
)


def log_with(publishes: int) -> PublishLog:
    log = PublishLog()
    for number in range(1, publishes + 1):
        log = log.then(Publish(commit=f"c{number}", token=100 - number % 3, snapshot=number))
    return log


def test_a_log_survives_its_text() -> None:
    assert decode_log(None) == PublishLog()
    assert decode_log(encode_log(log_with(5))) == log_with(5)
    with pytest.raises(ValueError):
        decode_log("somebody's own text")


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
