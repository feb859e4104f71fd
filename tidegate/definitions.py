"""The code location in workspace.yaml, which connects the project's settings to the Dagster side.

The code server loads it, and the process of each run loads it again. The definitions are built
from what is deployed in the schedule store. The store is opened at the first use, so a run can
load its definitions without it.
"""

from dagster import Definitions, definitions

from tidegate.dagster_defs.definitions.definitions import build_definitions
from tidegate.project.location import location_of
from tidegate.project.settings.settings import load_settings


@definitions
def defs() -> Definitions:
    """Build the definitions of the project of the working folder."""
    return build_definitions(location_of(load_settings()))
