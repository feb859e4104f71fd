"""The first YAML of `tidegate init --beside`: which job of theirs it is over, and what is without one."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.effort import pick
from tidegate.cli.main import application
from tidegate.compiler.compile import compile_files
from tidegate.dagster_defs.compare.question import UNKNOWN, Answers, TheirJob
from tidegate.processes import their_jobs
from tidegate.project import locations
from tidegate.project.first_schedule import first_app, first_job, name_of

ACME = Path(__file__).parents[3] / "existing" / "acme" / "definitions.py"

PLAIN = TheirJob(name="plain", location="acme")
CRON = TheirJob(name="cron", location="acme", schedule="daily", cron="0 5 * * *", timezone="Europe/Berlin")
CONFIG = TheirJob(name="config", location="acme", needs_config=True, schedule="s", cron="0 5 * * *")
DAILY = TheirJob(name="daily", location="acme", partitions="{cycle: day, start: 2026-01-01}")
ODD = TheirJob(name="odd", location="acme", partitions=UNKNOWN)


@pytest.mark.parametrize(
    ("jobs", "chosen"),
    [
        ((CONFIG, DAILY, PLAIN, CRON), CRON),
        ((CONFIG, DAILY, PLAIN), PLAIN),
        ((CONFIG, DAILY, ODD), DAILY),
        ((ODD, CONFIG), CONFIG),
        ((ODD,), None),
        ((), None),
    ],
)
def test_the_job_that_needs_least_is_chosen(jobs: tuple[TheirJob, ...], chosen: TheirJob | None) -> None:
    assert first_job(jobs) == chosen


@pytest.mark.parametrize(
    "job",
    [
        PLAIN,
        CRON,
        CONFIG,
        DAILY,
        TheirJob(name="yes", location="their acme", unique=False),
        TheirJob(name="__x__", location="a.b", partitions=DAILY.partitions, cron="@daily"),
    ],
)
def test_the_text_lints_clean_and_its_schedule_waits_for_a_person(job: TheirJob) -> None:
    compiled = compile_files({"schedules/acme.yaml": first_app("acme", job).encode()})

    assert not [each for each in compiled.diagnostics if each.code != "L411"], compiled.diagnostics
    (app,) = compiled.models().values()
    (program,), (schedule,) = app.programs.values(), app.schedules.values()
    assert program.existing is not None
    assert (program.existing.job, schedule.status) == (job.name, "suspended")
    assert program.existing.location == ("" if job.unique else job.location)


def test_a_schedule_of_theirs_at_the_same_times_is_named() -> None:
    assert "# The schedule daily of yours starts the job at these times, too" in first_app("acme", CRON)


@pytest.mark.parametrize(
    ("text", "name"), [("My repo-2", "my_repo_2"), ("2024", "app_2024"), ("…", "app"), ("a" * 99, "a" * 60)]
)
def test_a_folder_of_any_name_has_an_app(text: str, name: str) -> None:
    assert name_of(text, "app") == name


class Beside:
    """A project of others, in which the command is called."""

    def __init__(self, folder: Path, code: str) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "their_jobs_here.py").write_text(code)
        (folder / "pyproject.toml").write_text(
            '[project]\ndependencies = ["tidegate"]\n[tool.dagster]\nmodule_name = "their_jobs_here"\n'
        )

    def init(self) -> Result:
        return CliRunner().invoke(application, ["init", "--beside", str(self.folder)])


@pytest.mark.dagster
@pytest.mark.slow
def test_the_jobs_of_loaded_code_are_found_and_a_second_time_no_code_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    acme = Beside(tmp_path / "acme", ACME.read_text())

    result = acme.init()
    again = acme.init()

    text = (acme.folder / "schedules" / "acme.yaml").read_text()
    assert result.exit_code == again.exit_code == 0
    assert "job: demand_job\n    partitions: {cycle: day, start: 2026-01-01}" in text
    assert "schedules/acme.yaml" in result.stdout
    assert "nothing is missing" in again.stdout
    found = {each.name: each for each in their_jobs.ask(acme.folder).jobs}
    assert found["load_region"].needs_config and found["load_region"].cron == "0 5 * * *"
    assert found["nightly_report"].partitions == "{cycle: day, start: 2026-01-01}"
    assert found["region_job"].partitions == UNKNOWN
    assert not [name for name in found if name.startswith(("__", "tidegate_"))]


@pytest.mark.dagster
@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "said"),
    pick(
        [
            ("import nothing_of_this_name", "could not be loaded: ModuleNotFoundError: No module named"),
            (
                "import time; time.sleep(600)",
                "their_jobs_here could not be loaded: it was not loaded within 8 s",
            ),
            ("import os; os._exit(3)", "could not be loaded"),
            (
                "from dagster import Definitions; defs = Definitions()",
                "have no job that a schedule can launch",
            ),
        ],
        2,
    ),
)
def test_code_that_cannot_be_loaded_fails_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, said: str
) -> None:
    if "sleep" in code:
        monkeypatch.setattr(locations, "LOCATION_SECONDS", 8.0)
    acme = Beside(tmp_path / "acme", code)

    result = acme.init()

    assert result.exit_code == 0
    assert said in result.stdout and "tidegate docs existing-dagster" in result.stdout
    assert [path.name for path in (acme.folder / "schedules").iterdir()] == ["app.schema.json"]


@pytest.mark.dagster
@pytest.mark.slow
def test_a_location_that_hangs_hides_no_job_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locations, "LOCATION_SECONDS", 45.0)
    monkeypatch.chdir(tmp_path)
    acme = Beside(tmp_path / "acme", ACME.read_text())
    (acme.folder / "hangs.py").write_text("import time; time.sleep(600)")
    names = ('{type = "module", name = "hangs"}', '{type = "module", name = "their_jobs_here"}')
    (acme.folder / "pyproject.toml").write_text(
        f'[project]\ndependencies = ["tidegate"]\n[tool.dagster]\nmodules = [{", ".join(names)}]\n'
    )

    result = CliRunner().invoke(application, ["init", "--beside", "acme"])

    assert result.exit_code == 0
    assert "job: demand_job" in (acme.folder / "schedules" / "acme.yaml").read_text()
    assert "code location hangs could not be loaded: it was not loaded within 45 s" in result.stdout


def test_nothing_is_asked_where_there_is_no_code_of_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(_folder: Path) -> Answers:
        raise AssertionError("asked")

    monkeypatch.setattr(their_jobs, "ask", asked)

    result = CliRunner().invoke(application, ["init", "--beside", str(tmp_path)])

    assert result.exit_code == 0, result.output
