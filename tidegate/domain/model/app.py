"""An app, which is one YAML file, and how it and its schedules are written into the store.

What is encoded here is the storage format: a renamed field needs a migration.
"""

import msgspec

from tidegate.domain.model.calendar import Calendar
from tidegate.domain.model.dataset import Dataset, Program
from tidegate.domain.model.place import At
from tidegate.domain.model.schedule import Schedule
from tidegate.domain.value import Value


class App(Value, kw_only=True):
    """One YAML file: what is deployed together.

    Attributes:
        groups: declared group names with a description each.
        calendars: business calendars by name.
    """

    name: str
    timezone: str = "UTC"
    datasets: dict[str, Dataset] = {}
    programs: dict[str, Program] = {}
    schedules: dict[str, Schedule] = {}
    groups: dict[str, str] = {}
    calendars: dict[str, Calendar] = {}
    description: str = ""
    at: At | None = None


def encode(value: Value) -> bytes:
    """A value of the model as canonical JSON: sorted keys, no white space."""
    return msgspec.json.encode(value, order="sorted")


def decode_app(data: bytes | str) -> App:
    """The app that `encode` wrote."""
    return msgspec.json.decode(data, type=App)
