"""What a command or a page does not touch costs nothing: the schedules of another app, counted in SQLite."""

import httpx
import pytest
from fastapi.routing import APIRoute
from sqlalchemy import Engine

from tests.counted import Cost, cost
from tests.server.serving import NS, Served
from tests.tidegate.project import Project
from tidegate.project.settings.settings import load_settings
from tidegate.server.application import OF_NAMESPACE, OTHERS

pytestmark = pytest.mark.slow  # whole commands

FEW, MANY = 4, 200
BESIDE = """\
app: beside
datasets: {raw: {partitions: {cycle: day, start: 2026-01-01}}}
programs: {clean: {run: programs.clean}}
schedules:
"""
SCHEDULE = "  s%d: {program: clean, trigger: {partitions: {dataset: raw, count: %d}}, status: active}\n"

COMMANDS = (
    ("status",),
    ("apps", "list"),
    ("jobs", "list"),
    ("jobs", "list", "--app", "sales"),
    ("schedules", "list", "--app", "sales"),
    ("schedules", "show", "sales/report_daily"),
    ("why", "sales/report_daily"),
    ("events", "list"),
    ("late",),
    ("ledger", "--app", "sales"),
    ("overrides", "list"),
    ("deployments", "list"),
)
GROWS = {
    "/metrics",
    "/board/schedules",
    f"{NS}/schedules",
    "/board/datasets",
    *("/board/deployments", f"{NS}/deployments"),
}
"""What counts or lists the schedules of all apps, or the deployments, of which there is one more."""

NAMES = {
    "app": "sales",
    "name": "orders",
    "dataset": "orders",
    "s": "report_daily",
    "schedule": "report_daily",
    "program": "make_report",
    "ref:path": "sales/report_daily",
}


def pages() -> list[str]:
    """The paths of every page and call that reads, for the first app."""
    found: dict[str, None] = {}
    for prefix, routers in (("", OTHERS), (NS, OF_NAMESPACE)):
        for route in (route for router in routers for route in router.routes):
            if isinstance(route, APIRoute) and "GET" in (route.methods or ()):
                path = f"{prefix}{route.path}"
                for name, value in NAMES.items():
                    path = path.replace(f"{{{name}}}", value)
                found[path] = None
    return [path for path in found if "{" not in path and path != "/openapi.json"]


def beside(project: Project, count: int) -> None:
    """Deploy another app that has so many schedules."""
    project.write("beside", BESIDE + "".join(SCHEDULE % (n, n) for n in range(1, count + 1)))
    project.run("deploy", "--no-imports")


def costs(project: Project) -> dict[str, Cost]:
    """What each command and page costs the store."""
    (project.folder / "programs.py").write_text("")
    found = {" ".join(words): cost(Engine, lambda words=words: project._result(*words)) for words in COMMANDS}
    store = project.store()
    try:
        client = Served(load_settings(), store).client
        for path in pages():
            answers: list[httpx.Response] = []
            read = cost(Engine, lambda path=path, answers=answers: answers.append(client.get(path)))
            if answers[0].status_code == httpx.codes.OK:
                found[path] = read
    finally:
        store.close()
    return found


def test_commands_and_pages_read_the_same_however_many_schedules_another_app_has(deployed: Project) -> None:
    beside(deployed, FEW)
    few = costs(deployed)
    beside(deployed, MANY)
    many = costs(deployed)
    for what in few.keys() - GROWS:
        read = few[what]
        assert many[what][:2] == read[:2], what
        assert many[what].steps <= read.steps * 1.3 + FEW * 10, what
