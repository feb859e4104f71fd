"""The `elapsed` trigger: fires when a time has passed since a run or an event."""

from datetime import timedelta
from typing import Literal

import msgspec

from tidegate.domain.duration import duration_text
from tidegate.domain.model.triggers.facts import LeafTrigger


class ElapsedTrigger(LeafTrigger, kw_only=True, tag="elapsed"):
    """Fires when a time has passed since the program's last finished run, or a dataset's last event.

    Attributes:
        since: `last_run` fires again after each further `for_`; `last_event` fires once until the next event.
        dataset: the dataset of the events, for `last_event`.
        program: the program of the runs, for `last_run`: the schedule's own program.
    """

    for_: timedelta = msgspec.field(name="for")
    since: Literal["last_run", "last_event"] = "last_run"
    dataset: str | None = None
    program: str | None = None

    @property
    def timer(self) -> timedelta:
        return self.for_

    @property
    def dataset_heard(self) -> str | None:
        return self.dataset

    def runs_heard(self, own: str) -> tuple[str, str] | None:
        return (self.program or own, "completed") if self.since == "last_run" else None

    @property
    def noun(self) -> str:
        return "an elapsed trigger"

    def one_line(self) -> str:
        of = self.dataset if self.since == "last_event" else self.program
        since = self.since.replace("_", " ")
        return f"{duration_text(self.for_)} since the {since}{f' of {of}' if of else ''}"
