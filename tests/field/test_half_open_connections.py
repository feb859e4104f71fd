"""A few hundred connections that never finished a request took the scheduler down, and none had a token.

`tests/server/test_connections.py` opens them at a real server; here is what it relies on.
"""

import resource

import pytest

from tidegate.server.body import BODY_SECONDS
from tidegate.server.connections import HEADER_SECONDS, raise_descriptor_limit


@pytest.mark.parametrize(("soft", "hard"), [(256, 256), (1_024, 1_048_576), (8_192, resource.RLIM_INFINITY)])
def test_connections_never_use_up_the_descriptors_of_the_store(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int
) -> None:
    limits = [(soft, hard)]
    monkeypatch.setattr(resource, "getrlimit", lambda kind: limits[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda kind, wanted: limits.append(wanted))

    most = raise_descriptor_limit()

    assert 0 < most <= limits[-1][0] // 2
    assert limits[-1][0] >= soft, "it is never lowered"


def test_a_header_and_a_body_that_do_not_come_have_a_limit() -> None:
    assert 0 < HEADER_SECONDS <= BODY_SECONDS <= 30
