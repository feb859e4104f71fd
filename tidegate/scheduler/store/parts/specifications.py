"""The protocols of what deployments wrote; see `scheduler.store.protocol`."""

from collections.abc import Collection, Sequence
from typing import Protocol

from tidegate.scheduler.model.records.specification import Specification


class SpecificationRows(Protocol):
    """Reads what deployments wrote."""

    def specifications(self, until: int, *, apps: Collection[str] | None = None) -> tuple[Specification, ...]:
        """The newest specification of each part up to a deployment, by ref; what is gone too."""
        ...


class SpecificationChanges(Protocol):
    """Keeps what deployments wrote."""

    def put_specifications(self, specifications: Sequence[Specification]) -> None:
        """Create or replace specifications, by ref and number."""
        ...
