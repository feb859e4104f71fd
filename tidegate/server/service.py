"""What all routes share: the project, its store, and the clock."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request

from tidegate.domain.commit_store import CommitStepStore
from tidegate.project.settings.settings import Settings
from tidegate.scheduler.store.open import commits_of
from tidegate.scheduler.store.upkeep import UpkeepStore


def utc_now() -> datetime:
    """Return this instant."""
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class Service:
    """A server of one project.

    Attributes:
        loopback: whether it listens on this machine only.
        clock: returns the instant of a request.
    """

    settings: Settings
    store: UpkeepStore
    loopback: bool = True
    clock: Callable[[], datetime] = utc_now

    @property
    def namespace(self) -> str:
        """The namespace of the project's apps."""
        return self.settings.namespace

    @property
    def commits(self) -> CommitStepStore:
        """The commit sequences and watermarks, in the same database as the store."""
        return commits_of(self.store)


def service_of(request: Request) -> Service:
    """Return the service that a request came to."""
    found: Service = request.app.state.service
    return found


Here = Annotated[Service, Depends(service_of)]
"""The service, as a parameter of a route."""
