"""The project of acme and ours in one code location, as its team may merge them."""

import os

from dagster import Definitions

from tests.existing.acme import definitions as theirs
from tests.existing.world import PROJECT
from tidegate.definitions import project_definitions

defs = Definitions.merge(theirs.defs, project_definitions(os.environ[PROJECT]))
