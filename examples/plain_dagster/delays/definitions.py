"""The code location: the assets, their IO manager, and the recovery of what dead runs were publishing."""

from dagster import Definitions

from delays.assets import ASSETS, tables
from tidegate import recovery_definitions

defs = Definitions.merge(
    Definitions(assets=ASSETS, resources={"io_manager": tables}),
    recovery_definitions(tables, ASSETS),
)
