"""DAGSTER_HOME of a project: the folder of its Dagster instance and the instance's settings.

A project may have its own `dagster.yaml` beside its `tidegate.toml`; it is copied to the folder.
Otherwise the instance gets the settings of a new project (`tidegate/project/starter/dagster.yaml`),
which equal the `dagster.yaml` of this repository, unless another project has given it settings of its own:
projects may share a home.
"""

import os
from pathlib import Path

from tidegate.domain.error import UserError
from tidegate.processes.code_servers import free_port
from tidegate.processes.site import Site
from tidegate.project.environment import ENVIRONMENT_VARIABLE, PROJECT_VARIABLE, STARTER
from tidegate.project.settings.settings import SETTINGS_FILE, Settings

HOME_VARIABLE = "DAGSTER_HOME"
SETTINGS_NAME = "dagster.yaml"
WORKSPACE_NAME = "workspace.yaml"

DEVELOPMENT = (STARTER / SETTINGS_NAME).read_text()
"""The settings of an instance in development."""


ENVIRONMENT_NAME = "tidegate-environment"
"""The file that names the environment of a home."""

NO_ENVIRONMENT = "(none)"

PROJECT_NAME = "tidegate-project"
"""The file that names the project whose own settings a home has."""


def prepare_home(settings: Settings) -> Path:
    """Create the project's DAGSTER_HOME or update its settings, and return its path.

    Raises:
        UserError: it is the home of another environment.
    """
    home = settings.dagster_home
    check_home(settings, home)
    # By default `.tidegate`, which also has the store.
    home.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    home.mkdir(exist_ok=True)
    stamp = home / ENVIRONMENT_NAME
    if not stamp.is_file():
        stamp.write_text(settings.environment or NO_ENVIRONMENT)
    _give_settings(settings, home)
    return home


def _give_settings(settings: Settings, home: Path) -> None:
    own, target, owner = settings.project / SETTINGS_NAME, home / SETTINGS_NAME, home / PROJECT_NAME
    has_own = own.is_file()
    of_another = owner.is_file() and owner.read_text() != settings.name
    if of_another and not has_own and target.is_file():
        return
    wanted = own.read_text() if has_own else DEVELOPMENT
    if not target.is_file() or target.read_text() != wanted:
        target.write_text(wanted)
    if has_own:
        owner.write_text(settings.name)
    else:
        owner.unlink(missing_ok=True)


def check_home(settings: Settings, home: Path) -> None:
    """Refuse the home of another environment.

    Run keys are unique within a store: Dagster would take a run of one store's job for that of another's.

    Raises:
        UserError: the home has been used for another environment.
    """
    stamp = home / ENVIRONMENT_NAME
    known = stamp.read_text().strip() if stamp.is_file() else ""
    wanted = settings.environment or NO_ENVIRONMENT
    if known and known != wanted:
        section = f"env.{settings.environment}.dagster" if settings.environment else "dagster"
        raise UserError(
            f"Dagster's folder {home} is that of the environment {known}, not of {wanted}",
            "each environment has a Dagster instance of its own: write home in"
            f" [{section}] of {SETTINGS_FILE}",
        )


def home_in_use(settings: Settings) -> Path:
    """Return the DAGSTER_HOME of the processes of a project: that of the variable, if it is set."""
    return Path(os.environ.get(HOME_VARIABLE) or settings.dagster_home)


def workspace_files(settings: Settings, home: Path) -> tuple[Path, ...]:
    """Return where Dagster's workspace file may be: that of `tidegate dev`, then that of the project."""
    return home / WORKSPACE_NAME, settings.project / WORKSPACE_NAME


def site_of(settings: Settings, web_port: int | None = None) -> Site:
    """Return the site of a project; create its home and choose free ports.

    Args:
        web_port: port of the UI; default: a free port.
    """
    home = prepare_home(settings)
    return Site(
        project=settings.project,
        home=home,
        logs=home.parent / "logs",
        web_port=free_port() if web_port is None else web_port,
        environment={PROJECT_VARIABLE: str(settings.project), ENVIRONMENT_VARIABLE: settings.environment},
    )
