"""What Dagster loads of a project, which connects the project's settings to the Dagster side.

    defs                  the code location in workspace.yaml: that of the project of the working folder
    project_definitions   the same within a code location of others, for `Definitions.merge`

The code server loads it, and the process of each run loads it again. The definitions are built
from what is deployed in the schedule store. The store is opened at the first use, so a run can
load its definitions without it.
"""

import os
import sys
from pathlib import Path

from dagster import Definitions, definitions

from tidegate.dagster_defs.definitions.definitions import build_definitions
from tidegate.dagster_defs.internals.load_context import DefinitionsLoadContext, DefinitionsLoadType
from tidegate.domain.error import UserError
from tidegate.project.location import location_of
from tidegate.project.settings.settings import Settings, load_settings

VALIDATING = "DAGSTER_IS_DEFS_VALIDATION_CLI"
"""The variable that Dagster sets while `dg check defs` or `dagster definitions validate` runs."""


@definitions
def defs() -> Definitions:
    """Build the definitions of the project of the working folder."""
    return build_definitions(location_of(load_settings()), at_once=VALIDATING in os.environ)


def project_definitions(project: str | os.PathLike[str] | None = None) -> Definitions:
    """Return the definitions of a project, to be merged into those of an existing Dagster project.

    They have no executor, loggers or resources, and the name of each op, job, schedule and sensor begins with
    "tidegate_". Assets keep the key [app, dataset]. A code location can have one such project.

    Args:
        project: the folder of `tidegate.toml`, or the file; a relative one begins in the working folder.
            Default: TIDEGATE_PROJECT, else the working folder or one above it.

    Raises:
        UserError: the project has no settings, or they are wrong; while Dagster validates, also the mistakes
            of the project's YAML.
    """
    settings = load_settings(None if project is None else Path(project))
    # A run imports its program by name. The modules of the location itself come first.
    if str(settings.project) not in sys.path:
        sys.path.append(str(settings.project))
    if os.environ.get(VALIDATING) and not _is_reconstructed():
        _check(settings)
    return build_definitions(location_of(settings, merged=True))


def _is_reconstructed() -> bool:
    return DefinitionsLoadContext.get().load_type is DefinitionsLoadType.RECONSTRUCTION


def _check(settings: Settings) -> None:
    """Compile the YAML of a project.

    Raises:
        UserError: it has errors; the message has each of them with its file and line.
    """
    from tidegate.cli.checked_yaml import check_yaml
    from tidegate.compiler.render.diagnostics.text import diagnostics_text, summary_text

    found = check_yaml([settings.schedules], settings, without=settings.undeployed)
    if not found.ok:
        texts = diagnostics_text(found.diagnostics), summary_text(found.diagnostics)
        raise UserError("\n\n".join(("the YAML of the project has errors:", *texts)))
