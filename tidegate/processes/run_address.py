"""The address of a run in the Dagster UI, for the commands that name a run."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.project.settings.settings import Settings


def run_address(settings: "Settings", run_id: str | None) -> str:
    """Return the address of a run's page; "" without a run or a known UI.

    The UI is that of the `tidegate dev` that runs on the project, which may have another port than the
    settings say; else that of `[dagster] webserver_url`.
    """
    from tidegate.processes.lock import address_in_use

    if not run_id:
        return ""
    ui = address_in_use(settings.project) or settings.webserver_url
    return f"{ui}/runs/{run_id}" if ui else ""
