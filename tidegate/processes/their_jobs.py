"""The jobs of the code locations of others in a project, asked in a process of its own.

    ask ──starts──► python -m tidegate.processes.their_jobs FOLDER ANSWER
                        └── Dagster loads each location in its own server ──► the answer, as JSON

Their code may fail, print, or never end its import: it runs behind two processes, and after a while both are
ended. Nothing of it is loaded here.
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tidegate.domain.error import UserError
from tidegate.processes.locations import Listed, is_ours, origins_of, target_of
from tidegate.project.create import write_new
from tidegate.project.first_schedule import UNKNOWN, TheirJob, TheirJobs, first_app, first_job, name_of
from tidegate.project.settings.settings import load_settings
from tidegate.project.yaml_files import SUFFIXES

if TYPE_CHECKING:
    from dagster import PartitionsDefinition

    from tidegate.dagster_defs.internals.remote_jobs import RemoteRepository

BY_HAND = "schedules/APP.yaml over one of your jobs: `tidegate docs existing-dagster` has one to copy"

LOAD_SECONDS = 120
"""How long their code may take to load."""

HIDDEN = ("__", "tidegate_")
"""How the names of jobs begin that are Dagster's own, or ours."""


def ask(folder: Path) -> TheirJobs:
    """Return the jobs of others in the project of a folder, and why some cannot be loaded."""
    with tempfile.TemporaryDirectory(prefix="tidegate-") as temporary:
        answer = Path(temporary, "jobs.json")
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(folder), str(answer)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.wait(LOAD_SECONDS)
        except subprocess.TimeoutExpired:
            return TheirJobs(problems=(f"your code was not loaded within {LOAD_SECONDS} s",))
        finally:
            _end(process)
        if not answer.is_file():
            return TheirJobs(problems=("your code could not be loaded",))
        return msgspec.json.decode(answer.read_bytes(), type=TheirJobs)


def write_first(folder: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Write a first YAML over a job of others in the project of a folder, unless it has any YAML.

    Returns:
        What was written, and what people do themselves.

    Raises:
        UserError: it cannot be written.
    """
    try:
        schedules = load_settings(folder, may_lack=True).schedules
        if any(path.suffix in SUFFIXES for path in schedules.rglob("*")) or not _has_others(folder):
            return (), ()
    except UserError as error:
        return (), (f"{error}; then write {BY_HAND}",)
    found = ask(folder)
    job = first_job(found.jobs)
    if job is None:
        problems = found.problems or ("your code locations have no job that a schedule can launch",)
        return (), (*problems, f"write {BY_HAND}")
    app = name_of(folder.resolve().name, "app")
    written = write_new({schedules / f"{app}.yaml": first_app(app, job).encode()})
    return tuple(path.relative_to(folder.resolve()) for path in written), found.problems


def _has_others(folder: Path) -> bool:
    target = target_of(folder)
    return target is not None and any(not is_ours(each) for each in origins_of(target, folder))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and the servers that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def their_jobs(folder: Path) -> TheirJobs:
    """Load the code locations of others in a project, and return what they have."""
    from dagster import DagsterInstance

    from tidegate.dagster_defs.existing.creation import innermost
    from tidegate.dagster_defs.internals.workspace import WorkspaceProcessContext

    target = target_of(folder)
    theirs = [] if target is None else [each for each in origins_of(target, folder) if not is_ours(each)]
    jobs: list[TheirJob] = []
    problems: list[str] = []
    with (
        tempfile.TemporaryDirectory(prefix="tidegate-") as home,
        DagsterInstance.local_temp(home) as instance,
        WorkspaceProcessContext(instance, Listed(theirs)) as workspace,
    ):
        for name, entry in workspace.create_request_context().get_code_location_entries().items():
            if entry.code_location is None:
                why = "" if entry.load_error is None else f": {innermost(entry.load_error)}"
                problems.append(f"your code location {name} could not be loaded{why}")
                continue
            for repository in entry.code_location.get_repositories().values():
                jobs.extend(_jobs_of(name, repository))
    names = [each.name for each in jobs]
    unique = (msgspec.structs.replace(each, unique=names.count(each.name) == 1) for each in jobs)
    return TheirJobs(jobs=tuple(unique), problems=tuple(problems))


def _jobs_of(location: str, repository: "RemoteRepository") -> Iterator[TheirJob]:
    schedules = {
        each.job_name: each for each in repository.get_schedules() if isinstance(each.cron_schedule, str)
    }
    sets = {each.job_name: each for each in repository.get_partition_sets()}
    for job in repository.get_all_jobs():
        if job.name.startswith(HIDDEN):
            continue
        schedule, cut = schedules.get(job.name), sets.get(job.name)
        partitions = ""
        if cut is not None:
            partitions = (
                spelled(cut.get_partitions_definition()) if cut.has_partitions_definition() else UNKNOWN
            )
        yield TheirJob(
            name=job.name,
            location=location,
            partitions=partitions,
            # One with partitions has its config from its own code.
            needs_config=not partitions and _needs_config(job),
            schedule="" if schedule is None else schedule.name,
            cron="" if schedule is None else str(schedule.cron_schedule),
            timezone="" if schedule is None else schedule.execution_timezone or "",
        )


def _needs_config(job: Any) -> bool:
    from tidegate.dagster_defs.internals.run_config import validate_config_from_snap

    return not validate_config_from_snap(job.config_schema_snapshot, job.root_config_key, {}).success


def spelled(partitions: "PartitionsDefinition") -> str:
    """Return partitions as a dataset spells them, in one line; UNKNOWN if a cron cannot choose one."""
    from dagster import DailyPartitionsDefinition, TimeWindowPartitionsDefinition

    if not isinstance(partitions, TimeWindowPartitionsDefinition):
        return UNKNOWN
    daily = DailyPartitionsDefinition(partitions.start, timezone=partitions.timezone)
    if (partitions.cron_schedule, partitions.fmt, partitions.end_offset, partitions.end) != (
        daily.cron_schedule,
        daily.fmt,
        0,
        None,
    ):
        return UNKNOWN
    zone = "" if partitions.timezone == "UTC" else f", timezone: {partitions.timezone}"
    return f"{{cycle: day, start: {partitions.start:%Y-%m-%d}{zone}}}"


def main(arguments: Sequence[str]) -> None:
    """Write the answer on a folder into a file."""
    folder, answer = map(Path, arguments)
    answer.write_bytes(msgspec.json.encode(their_jobs(folder)))


if __name__ == "__main__":
    main(sys.argv[1:])
