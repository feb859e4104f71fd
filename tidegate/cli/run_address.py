"""The address of a run in the Dagster UI, for the commands that name a run."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.project.settings.settings import Settings


def run_address(settings: "Settings", run_id: str | None) -> str:
    """Return the address of a run's page; "" without a run or without `[dagster] webserver_url`."""
    if not run_id or not settings.webserver_url:
        return ""
    return f"{settings.webserver_url}/runs/{run_id}"
