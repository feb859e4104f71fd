"""The cost of loading and reloading a code location, by its number of schedules.

Each schedule has a program of its own; half of them wait for partitions, half are crons that Dagster shows.
What is measured is what a code server does at a load: it asks for the definitions twice, makes the
repository, its snapshot and that of the job of all assets, and sends both; and what each of Dagster's
processes does then, which reads them.
It is processor time, so that other load on the machine counts little. A reload after a deployment does the
same again.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec

from benchmarks.deployed import START, apps
from tidegate.domain.model import App, Dataset, Program
from tidegate.project.location import location_of
from tidegate.project.settings.settings import Settings, load_settings
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.live import Scope
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store

SIZES = (100, 1_000, 10_000)
AIM_SECONDS = 5.0
"""At the largest size."""

JOB = '"pipeline_snapshot": '
"""What comes before the snapshot of a job in what is sent of it."""


def main() -> int:
    """Measure, print, and return 1 if the largest location misses its aim."""
    seconds = 0.0
    for size in SIZES:
        printed = subprocess.run(
            [sys.executable, "-m", "benchmarks.location", str(size)],
            check=True,
            capture_output=True,
            text=True,
        )
        print(printed.stdout, end="", flush=True)
        seconds = float(printed.stdout.rsplit(maxsplit=2)[-2])
    print(f"the aim is {AIM_SECONDS} s: {'met' if seconds <= AIM_SECONDS else 'missed'}")
    return int(seconds > AIM_SECONDS)


def with_programs(schedules: int) -> Iterator[App]:
    """Yield apps with this number of schedules, each with a program of its own, which writes a dataset."""
    for app in apps(schedules, count=1):
        inputs = sorted(app.datasets)
        programs = {
            f"p_{name}": Program(
                name=f"p_{name}",
                run="bench.run",
                reads=(inputs[number % len(inputs)],),
                writes=(f"of_{name}",),
            )
            for number, name in enumerate(app.schedules)
        }
        outputs = {name: Dataset(name=name) for program in programs.values() for name in program.writes}
        yield msgspec.structs.replace(
            app,
            datasets=app.datasets | outputs,
            programs=programs,
            schedules={
                name: msgspec.structs.replace(schedule, program=f"p_{name}")
                for name, schedule in app.schedules.items()
            },
        )


def deployed_programs(folder: Path, schedules: int) -> tuple[Settings, Store]:
    """Deploy schedules, each with a program of its own, as a project in a folder."""
    (folder / "tidegate.toml").write_text('[project]\nname = "bench"\n')
    settings = load_settings(folder)
    store = open_store(settings.store_url)
    with store.transaction() as transaction:
        wanted = {app.name: app for app in with_programs(schedules)}
        deploy(transaction, wanted, START, scope=Scope(project=settings.name), by=By(actor="bench"))
    return settings, store


def measure(schedules: int) -> None:
    """Load a location in this process, and print its parts."""
    from dagster import deserialize_value
    from dagster._core.definitions.repository_definition import RepositoryLoadData
    from dagster._core.snap import JobSnap

    from tidegate.dagster_defs.definitions.definitions import build_definitions
    from tidegate.dagster_defs.internals.load_context import DefinitionsLoadContext, DefinitionsLoadType
    from tidegate.dagster_defs.internals.snapshots import RepositorySnap

    with tempfile.TemporaryDirectory() as folder:
        settings, store = deployed_programs(Path(folder), schedules)
        location, parts = location_of(settings), list[tuple[str, float]]()
        began = time.process_time()

        def done(part: str) -> None:
            parts.append((part, time.process_time() - began - sum(seconds for _, seconds in parts)))

        context = DefinitionsLoadContext(DefinitionsLoadType.INITIALIZATION)
        with DefinitionsLoadContext.scoped(context):
            build_definitions(location)
        done("definitions")
        shipped = RepositoryLoadData(
            reconstruction_metadata=dict(context.get_pending_reconstruction_metadata())
        )
        again = DefinitionsLoadContext(DefinitionsLoadType.RECONSTRUCTION, repository_load_data=shipped)
        with DefinitionsLoadContext.scoped(again):
            definitions = build_definitions(location)
        done("again")
        repository = definitions.get_repository_def()
        repository.load_all_definitions()
        done("repository")
        text, job = sent(repository)
        done("snapshots")
        deserialize_value(text, RepositorySnap)
        assert deserialize_value(job[job.index(JOB) + len(JOB) : -1], JobSnap).snapshot_id
        done("read by a client")
        store.close()
    listed = ", ".join(f"{part} {seconds:.2f}" for part, seconds in parts)
    megabytes = (len(text) + len(job)) / 1e6
    print(f"{schedules:>6,} schedules: {listed}; {megabytes:.1f} MB; {sum(s for _, s in parts):.2f} s")


def sent(repository: Any) -> tuple[str, str]:
    """Return what a code server sends of a repository, and of its job of all assets."""
    from dagster import serialize_value
    from dagster._core.remote_origin import RegisteredCodeLocationOrigin
    from dagster._grpc.server import DagsterApiServer

    from tidegate.dagster_defs.deployed.names import ALL_ASSETS_JOB
    from tidegate.dagster_defs.internals.origins import RemoteRepositoryOrigin

    api: Any = DagsterApiServer
    server = SimpleNamespace(_get_repo_for_origin=lambda _: repository)
    origin = serialize_value(RemoteRepositoryOrigin(RegisteredCodeLocationOrigin("bench"), repository.name))
    request = SimpleNamespace(
        serialized_repository_python_origin=origin,
        serialized_repository_origin=origin,
        job_name=ALL_ASSETS_JOB,
        defer_snapshots=True,
    )
    text: str = api._get_serialized_external_repository_data(server, request)
    return text, api.ExternalJob(server, request, None).serialized_job_data


if __name__ == "__main__":
    measure(int(sys.argv[1]))
