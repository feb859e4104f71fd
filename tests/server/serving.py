"""A server over a real SQLite store, called without a socket: the world of the tests of the server."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal
from fastapi import FastAPI
from fastapi.testclient import TestClient

from tests.worlds.by import CLI
from tidegate.project.settings.settings import Settings, load_settings
from tidegate.scheduler.commands.tokens import create_token
from tidegate.scheduler.model.records.token import Role, token_hash
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.tick import tick
from tidegate.server.application import assemble, for_service
from tidegate.server.service import Service

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
NS = "/v3/namespaces/default"

PORTALS: list[BlockingPortal] = []
"""The event loop of all clients. Without one, each request starts a loop and threads: a tenth of its time."""


@cache
def _with_routes() -> FastAPI:
    """An application of which each server of a test is a copy: its routes take a quarter of a second."""
    return assemble()


class Served:
    """A server, its store, and its clock, which a test moves."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self.now = NOON
        self.store = store
        self.service = Service(settings=settings, store=store, clock=lambda: self.now)
        self.client = self.of()

    def of(self, token: str | None = None, **headers: str) -> TestClient:
        """A client, with a token or without one."""
        client = TestClient(
            for_service(copy(_with_routes()), self.service),
            base_url="http://127.0.0.1:8080",
            client=("127.0.0.1", 50_000),
            raise_server_exceptions=False,
        )
        client.portal = PORTALS[0] if PORTALS else None
        if token is not None:
            client.headers["Authorization"] = f"Bearer {token}"
        client.headers.update(headers)
        return client

    def token(self, role: Role, app: str | None = None, name: str | None = None) -> str:
        """Create a token; it is its own name."""
        found = name or f"{role}-{app or 'all'}"
        with self.store.transaction() as transaction:
            create_token(transaction, found, role, app, token_hash(found), self.now, CLI)
        return found

    def pass_time(self, by: timedelta) -> None:
        """Move the clock and tick."""
        self.now += by
        tick(self.store, self.now)


@contextmanager
def served(folder: Path, settings: str = "", empty: Path | None = None) -> Iterator[Served]:
    """Serve a project with these lines in its settings.

    Args:
        empty: a SQLite store with nothing in it, to copy; otherwise a new one is migrated.
    """
    (folder / "tidegate.toml").write_text(settings)
    (folder / "schedules").mkdir(exist_ok=True)
    loaded = load_settings(folder)
    if empty is not None:
        file = Path(loaded.store_url.removeprefix("sqlite:///"))
        file.parent.mkdir()
        shutil.copy(empty, file)
    store = open_store(loaded.store_url)
    try:
        yield Served(loaded, store)
    finally:
        store.close()


def problem(answer: Any, status: int) -> dict[str, Any]:
    """Return a problem, which an answer must be."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found: dict[str, Any] = answer.json()
    assert found["status"] == status
    assert {"type", "title", "detail"} <= found.keys()
    return found
