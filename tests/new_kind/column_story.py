"""A list with the new column in a terminal and on the board; played in a copy that has the column."""

import os
import sys
from pathlib import Path

from fastapi.testclient import TestClient

from tests.tidegate.project import Project


def play(folder: Path) -> None:
    """Print the list of a job as a table and as a page."""
    from tidegate.project import imports
    from tidegate.project.settings.settings import load_settings
    from tidegate.scheduler.store.open import open_store
    from tidegate.server.application import assemble, for_service
    from tidegate.server.service import Service

    imports.check_imports = lambda compilation, _project: compilation
    os.chdir(folder)
    project = Project(folder)
    project.run("deploy")
    project.run("schedules", "trigger", "report_by_day", "--key", "2026-03-09", "--force")
    print(project.run("jobs", "list"))
    store = open_store(load_settings().store_url, create=False)
    service = Service(settings=load_settings(), store=store)
    client = TestClient(
        for_service(assemble(), service), base_url="http://127.0.0.1:8080", client=("127.0.0.1", 50_000)
    )
    print(client.get("/board/jobs", headers={"Accept": "text/html"}).text)
    store.close()


if __name__ == "__main__":
    play(Path(sys.argv[1]))
