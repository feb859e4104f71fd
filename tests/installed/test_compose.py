"""The image and the services of a project for production, played: from a report to a published table."""

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.installed.composed import Composed, run_lines
from tests.installed.environment import PIP, clean_variables, lend_dependencies

pytestmark = [
    pytest.mark.endurance,
    pytest.mark.dagster,
    pytest.mark.spark,
    pytest.mark.soak,
    pytest.mark.timeout(1800),
]

NOT_OF_AN_IMAGE = ("useradd", "chown")
"""They would change this machine, so they are noted only."""

OF_DAGSTER = ("dagster", "dagster-daemon", "dagster-webserver")
"""Commands of packages that the environment lends."""

NOTED = '#!/bin/sh\necho "$(basename "$0") $*" >>"$NOTES"\n'
EVENTS = "/v3/namespaces/default/events/partitions"
JOBS = "/v3/namespaces/default/jobs"


class Image:
    """What the lines of the Dockerfile make of a project and the wheel.

    Attributes:
        project: the working folder of its processes.
        home: DAGSTER_HOME.
        binaries: what comes first in their PATH.
    """

    def __init__(self, folder: Path, wheel: Path, init: list[str]) -> None:
        self.project, self.home = folder / "project", folder / "dagster"
        environment = folder / "python"
        venv.create(environment, with_pip=False)
        self.binaries, notes, shims = environment / "bin", folder / "notes", folder / "shims"
        shims.mkdir()
        pip = f'#!/bin/sh\nexec "{sys.executable}" -m pip --python "{environment}" "$@"\n'
        for name, text in {**dict.fromkeys(NOT_OF_AN_IMAGE, NOTED), "pip": pip}.items():
            (shims / name).write_text(text)
            (shims / name).chmod(0o755)
        variables = clean_variables(**PIP, DAGSTER_HOME=str(self.home), NOTES=str(notes))
        variables["PATH"] = os.pathsep.join([str(shims), str(self.binaries), variables["PATH"]])
        subprocess.run([*init, str(self.project)], env=clean_variables(), check=True, capture_output=True)
        (self.project / "requirements.txt").write_text(f"tidegate @ {wheel.as_uri()}\n")
        for line in run_lines(self.project / "deploy" / "Dockerfile"):
            subprocess.run(["sh", "-ec", line], cwd=self.project, env=variables, check=True)
        self.noted = notes.read_text()
        lend_dependencies(environment)
        for name in OF_DAGSTER:
            code = Path(sys.prefix, "bin", name).read_text().partition("\n")[2]
            (self.binaries / name).write_text(f"#!{self.binaries / 'python'}\n{code}")
            (self.binaries / name).chmod(0o755)


@pytest.fixture
def composed(tmp_path: Path, wheel: Path, installed: Any, own_postgres_server: Any) -> Iterator[Composed]:
    image = Image(tmp_path, wheel, [str(installed.folder / "bin" / "tidegate"), "init", "--production"])
    assert "useradd --create-home --uid 10001 tidegate" in image.noted
    shipped = image.project / "deploy" / "dagster.production.yaml"
    assert (image.home / "dagster.yaml").read_text() == shipped.read_text()
    settings = image.project / "tidegate.toml"
    settings.write_text(settings.read_text().replace('"iceberg"', '"parquet"'))
    with Composed(image.project, image.home, image.binaries, own_postgres_server).up() as started:
        yield started
    shutil.rmtree(image.project / ".tidegate", ignore_errors=True)


def signed_on(composed: Composed) -> httpx.Client:
    """A client of the server, once there is a token, without which it refuses to listen."""
    serve = composed["serve"]
    composed.until(lambda: serve.starts > 1, "the server without a token has ended and is started again")
    assert "token create" in serve.log.read_text()
    token = composed["deploy"].call("tidegate", "token", "create", "me", "--role", "admin").split()[-1]
    composed.until(lambda: serve.is_healthy, "the server listens")
    address = f"http://127.0.0.1:{composed.port['8080']}"
    return httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=60)


def publish(composed: Composed, client: httpx.Client, day: str, jobs: int) -> None:
    """Report the two files of a day, and wait until its table is published."""
    for region in ("north", "south"):
        report = {
            "app": "project",
            "dataset": "raw_orders",
            "partitions": [{"key": f"{day}|{region}", "rows": 4}],
        }
        client.post(EVENTS, json=report).raise_for_status()

    def published() -> bool:
        items = client.get(JOBS).raise_for_status().json()["items"]
        assert all(each["state"] not in ("FAILED", "DEAD") for each in items), items
        return [each["state"] for each in items] == jobs * ["SUCCEEDED"]

    composed.until(published, f"{day} is published")


def test_a_run_passes_through_all_services_and_each_comes_back(composed: Composed) -> None:
    with signed_on(composed) as client:
        publish(composed, client, "2025-06-01", 1)
        for name, service in composed.services.items():
            if name != "deploy":
                composed.until(lambda each=service: each.is_healthy, f"{name} is healthy")
                assert service.starts == 1 or name == "serve", service.log.read_text()
        for name, service in composed.services.items():
            if name == "deploy":
                continue
            before = service.starts
            service.kill()
            composed.until(lambda each=service, was=before: each.starts > was, f"{name} is started again")
            composed.until(lambda each=service: each.is_healthy, f"{name} is healthy again")
        composed.restart_postgres()
        for name, service in composed.services.items():
            if name != "deploy":
                composed.until(lambda each=service: each.is_healthy, f"{name} is healthy after the database")

        landed = composed.project / "landing" / "orders"
        shutil.copytree(landed / "day=2025-06-01", landed / "day=2025-06-02")
        publish(composed, client, "2025-06-02", 2)
