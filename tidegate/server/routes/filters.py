"""The filters of lists of schedules."""

from typing import Annotated

from fastapi import Query

from tidegate.compiler.triggers import KINDS
from tidegate.scheduler.model.deployed import DeployedApp, Status
from tidegate.scheduler.store.wanted import SchedulesWanted
from tidegate.server.problem import unknown_value

TRIGGER_TYPES = (*KINDS, "task")

STATUSES: dict[str, Status] = {"active": "active", "scheduled": "active", "suspended": "suspended"}
"""The status of each word for it."""


class Filters:
    """Which schedules are listed; an empty filter is none."""

    def __init__(
        self,
        trigger_type: Annotated[
            str, Query(alias="trigger-type", description=f"Kind of the root: {', '.join(TRIGGER_TYPES)}.")
        ] = "",
        status: Annotated[
            str,
            Query(alias="schedule-status", description="active or SCHEDULED, suspended or SUSPENDED."),
        ] = "",
        program: Annotated[str, Query(description="A program of the app.")] = "",
    ) -> None:
        if trigger_type and trigger_type not in TRIGGER_TYPES:
            raise unknown_value("trigger-type", trigger_type, TRIGGER_TYPES)
        if status and status.lower() not in STATUSES:
            raise unknown_value("schedule-status", status, ("active", "SCHEDULED", "suspended", "SUSPENDED"))
        self._kind = trigger_type
        self._status: Status | None = STATUSES.get(status.lower())
        self._program = program

    def check(self, deployed: DeployedApp) -> None:
        """Refuse a program that the app does not have.

        Raises:
            Problem: 400.
        """
        if self._program and self._program not in deployed.app.programs:
            raise unknown_value("program", self._program, sorted(deployed.app.programs))

    def of(self, app: str) -> SchedulesWanted:
        """Return which schedules of an app are listed."""
        return SchedulesWanted(
            app=app, program=self._program or None, kind=self._kind or None, status=self._status
        )
