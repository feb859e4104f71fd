"""Places: how many operations on tables may begin beside the pipelines (docs/maintenance.md). Pure.

A policy never takes the machine: an operation or a measurement gets a run only while no run of a pipeline is
queued and at least half of the places of Dagster are free.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.domain.wording import plural

SETTING = "`max_concurrent_runs` of dagster.yaml"


class Noted(Value, kw_only=True):
    """What the last heartbeat has found in a project's Dagster.

    Attributes:
        most: `max_concurrent_runs` of dagster.yaml.
        in_progress: the number of runs of any kind that start, are at work, or are being cancelled.
    """

    most: int
    in_progress: int = 0

    @classmethod
    def of(cls, stored: Any) -> "Noted | None":
        """Return what a cursor holds; None where nothing is known, or there is no limit."""
        return None if stored is None else msgspec.convert(stored, cls)


def places_cursor(project: str) -> str:
    """Return the name of the cursor that holds what is noted of a project's Dagster."""
    return f"places:{project}"


class Places(Value, kw_only=True):
    """The places for the runs of a project at an instant.

    Attributes:
        most: the setting of Dagster.
        taken: by runs, and by jobs whose launch is decided.
        queued: the number of runs of pipelines that wait for a place.
    """

    most: int
    taken: int
    queued: int = 0

    @property
    def has_room(self) -> bool:
        """Whether one more operation may begin."""
        return not self.queued and 2 * (self.most - self.taken) >= self.most > 0

    @property
    def sentence(self) -> str:
        """Return the numbers in one line for people."""
        most = f"{plural(self.most, 'place')} ({SETTING})"
        if self.queued:
            are = "is" if self.queued == 1 else "are"
            return f"{plural(self.queued, 'run')} of pipelines {are} queued for one of {most}"
        return f"{self.taken} of {most} taken; an operation needs {self.most - self.most // 2} free"


class Rooms(Value, kw_only=True):
    """The places of all projects; where a project has none nothing is known, and nothing waits.

    Attributes:
        places: by project.
        projects: the project of each deployed app.
    """

    places: Mapping[str, Places] = {}
    projects: Mapping[str, str] = {}

    def of(self, policy: str) -> Places | None:
        """Return the places for the operations of a policy, "app/policy"."""
        return self.places.get(self._project(policy))

    def full(self, policy: str) -> bool:
        """Return whether no operation of a policy may begin."""
        places = self.of(policy)
        return places is not None and not places.has_room

    def after(self, policy: str, starts: int = 1) -> "Rooms":
        """Return the places after starts of operations of a policy."""
        project, places = self._project(policy), self.of(policy)
        if places is None:
            return self
        less = msgspec.structs.replace(places, taken=places.taken + starts)
        return msgspec.structs.replace(self, places={**self.places, project: less})

    def _project(self, policy: str) -> str:
        return self.projects.get(app_of(policy), "")


ANY_NUMBER = Rooms()
"""Where nothing is known of places."""
