"""An app, which is one YAML file, and its encoding in the store.

The encoding is the storage format: a renamed field needs a migration.
"""

from datetime import time
from typing import Any

import msgspec

from tidegate.domain.model.dataset import Dataset, Program
from tidegate.domain.model.maintenance import Maintenance, Policy
from tidegate.domain.model.schedule import Schedule
from tidegate.domain.model.shared import At, Calendar, Routes
from tidegate.domain.value import Value


class App(Value, kw_only=True):
    """One YAML file, deployed as a unit.

    Attributes:
        day_starts: the wall time at which a day of business dates begins: what is before it belongs to the
            day before. Its crons and tasks carry it, so a changed one changes them.
        groups: descriptions of the declared groups by name.
        calendars: business calendars by name.
        policies: maintenance policies by name.
        maintenance: the settings of the whole store's maintenance; None in all apps but one.
        alerts: the channels by kind of alert; schedules and tasks may name others.
        renamed_from: former names; the first one that is deployed goes on under this name.
        written: its YAML as builtin values, without schedules and tasks; empty if a version before wrote it.
    """

    name: str
    timezone: str = "UTC"
    day_starts: time = time()
    datasets: dict[str, Dataset] = {}
    programs: dict[str, Program] = {}
    schedules: dict[str, Schedule] = {}
    groups: dict[str, str] = {}
    calendars: dict[str, Calendar] = {}
    policies: dict[str, Policy] = {}
    maintenance: Maintenance | None = None
    renamed_from: tuple[str, ...] = ()
    alerts: Routes = {}
    description: str = ""
    written: dict[str, Any] = {}
    at: At | None = None

    def owners(self) -> dict[str, str]:
        """Return the program that owns each dataset that programs write: the first of its writers by name.

        What an existing job writes is an asset of its own location, if it is one.
        """
        owners: dict[str, str] = {}
        for name in sorted(self.programs):
            for dataset in self.programs[name].writes if self.programs[name].existing is None else ():
                owners.setdefault(dataset, name)
        return owners


def encode(value: Value) -> bytes:
    """Return a value of the model as canonical JSON: sorted keys, no white space."""
    return msgspec.json.encode(value, order="sorted")
