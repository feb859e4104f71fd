"""The `run` trigger: fires when runs of a program have started or ended."""

from typing import Literal

from tidegate.domain.model.triggers.facts import LeafTrigger
from tidegate.domain.wording import plural


class RunTrigger(LeafTrigger, kw_only=True, tag="run"):
    """Fires when runs of a program have started or ended. "completed" is any end, also "cancelled"."""

    program: str
    status: Literal["started", "succeeded", "failed", "cancelled", "completed"] = "succeeded"
    count: int = 1

    @property
    def program_collected(self) -> str:
        return self.program

    def runs_heard(self, own: str) -> tuple[str, str]:
        return self.program, self.status

    @property
    def least_events(self) -> int:
        return self.count

    @property
    def noun(self) -> str:
        return "a run"

    def one_line(self) -> str:
        return f"{plural(self.count, 'run')} of {self.program} {self.status}"
