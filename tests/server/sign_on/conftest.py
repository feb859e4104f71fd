"""A server with an issuer that people sign in with."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.server.serving import Served, served
from tests.server.sign_on.issuing import SECRET, SECRET_VARIABLE, FakeIssuer, issuing, settings_of

GRANTS = (
    'group = "ops", role = "admin"',
    'group = "all", role = "read"',
    'group = "sellers", role = "read", app = "sales"',
    'group = "sellers", role = "admin", app = "shop"',
)


@pytest.fixture
def issuer(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeIssuer]:
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)
    with issuing() as found:
        yield found


@pytest.fixture
def server(tmp_path: Path, empty_store: Path, issuer: FakeIssuer) -> Iterator[Served]:
    """A server with an issuer, at the time of this machine: an id token is of now."""
    with served(tmp_path, settings_of(issuer.address, *GRANTS), empty_store) as found:
        found.now = datetime.now(UTC)
        yield found
