"""The limit on the rate of requests."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.server.serving import NS, Served, problem, served
from tidegate.scheduler.model.records.token import Role
from tidegate.server import rate_limit
from tidegate.server.rate_limit import RateLimit

pytestmark = [pytest.mark.store]

APPS = f"{NS}/apps"
NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.fixture
def slow(tmp_path: Path, empty_store: Path) -> Iterator[Served]:
    """A server that allows three requests a minute."""
    with served(tmp_path, "[serve]\nrequests_per_minute = 3\n", empty_store) as found:
        yield found


def statuses(server: Served, times: int, token: str | None = None) -> list[int]:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return [server.client.get(APPS, headers=headers).status_code for _ in range(times)]


def test_one_request_too_many_is_refused_until_one_is_free_again(slow: Served):
    assert statuses(slow, 3) == [200, 200, 200]

    answer = slow.client.get(APPS)

    assert "3 requests a minute" in problem(answer, 429)["detail"]
    assert answer.headers["retry-after"] == "20"
    slow.now += 19 * SECOND
    assert slow.client.get(APPS).headers["retry-after"] == "1"
    slow.now += SECOND
    assert statuses(slow, 2) == [200, 429]
    slow.now += 60 * SECOND
    assert statuses(slow, 4) == [200, 200, 200, 429]


def test_each_token_has_a_rate_of_its_own(slow: Served):
    first, second = (slow.token(Role.READ, name=name) for name in ("first", "second"))

    assert statuses(slow, 4, first) == [200, 200, 200, 429]
    assert statuses(slow, 3, second) == [200, 200, 200]


def test_wrong_tokens_count_for_their_address(slow: Served):
    right = slow.token(Role.READ)

    guessed = [statuses(slow, 1, f"guess-{number}") for number in range(4)]

    assert guessed == [[401], [401], [401], [429]]
    assert statuses(slow, 1) == [429]
    assert statuses(slow, 1, right) == [200]


def test_pages_are_counted_and_health_is_not(slow: Served):
    assert statuses(slow, 3) == [200, 200, 200]

    assert slow.client.get("/").status_code == 429
    assert slow.client.get("/metrics").status_code == 429
    assert slow.client.get("/healthz").status_code == 200


def test_the_shipped_limit_is_generous_and_none_is_possible(server: Served, tmp_path: Path):
    assert server.service.settings.requests_per_minute == 6000
    assert all(RateLimit(0).count("a", NOW) is None for _ in range(100))


def test_after_a_clock_is_put_back_the_next_request_is_soon_free():
    limit = RateLimit(60)
    assert limit.count("a", NOW + timedelta(days=1)) is None

    assert limit.count("a", NOW) == SECOND
    assert limit.count("a", NOW + SECOND) is None


def test_callers_who_have_been_silent_are_forgotten(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rate_limit, "CALLERS_KEPT", 4)
    limit = RateLimit(1)
    for number in range(100):
        assert limit.count(f"address {number}", NOW) is None
    assert len(limit._free_at) <= 4

    assert limit.count("address 99", NOW) is not None
    assert limit.count("address 99", NOW + timedelta(minutes=1)) is None
