"""The first YAML of a project, over one of the jobs that the code locations of others in it have."""

from pathlib import Path

from tidegate.dagster_defs.compare.question import Answers
from tidegate.domain.error import UserError
from tidegate.processes.locations import file_of, is_ours, origins_of, target_of
from tidegate.project.create import write_new
from tidegate.project.first_schedule import first_app, first_job, name_of
from tidegate.project.locations import jobs_of_others
from tidegate.project.settings.settings import load_settings
from tidegate.project.yaml_files import SUFFIXES

BY_HAND = "schedules/APP.yaml over one of your jobs: `tidegate docs existing-dagster` has one to copy"


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
    problems = tuple(_sentence(*each) for each in found.problems.items())
    job = first_job(found.jobs)
    if job is None:
        problems = problems or ("your code locations have no job that a schedule can launch",)
        return (), (*problems, f"write {BY_HAND}")
    app = name_of(folder.resolve().name, "app")
    written = write_new({schedules / f"{app}.yaml": first_app(app, job).encode()})
    return tuple(path.relative_to(folder.resolve()) for path in written), problems


def _has_others(folder: Path) -> bool:
    target = target_of(folder)
    return target is not None and any(not is_ours(each) for each in origins_of(target, folder))


def ask(folder: Path) -> Answers:
    """Return the jobs of others in the project of a folder, and why some cannot be loaded."""
    project = folder.resolve()
    return jobs_of_others(project, file_of(project))


def _sentence(location: str, why: str) -> str:
    which = f"your code location {location}" if location else "your code"
    return f"{which} could not be loaded" + (f": {why}" if why else "")
