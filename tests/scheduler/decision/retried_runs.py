"""A small world with one job of a schedule with `retries`, whose runs begin and end on request."""

from tests.worlds.world import World, at
from tidegate.scheduler.launch.run_report import note_failure
from tidegate.scheduler.model.job import Job

S = "s: {program: q, status: active, trigger: {partitions: {dataset: raw}}"
HEARS = """
on_failure: {program: r, status: active, trigger: {run: {program: q, status: failed}}}
on_success: {program: r, status: active, trigger: {run: {program: q}}}
on_start: {program: r, status: active, trigger: {run: {program: q, status: started, count: 2}}}
"""


class Runs(World):
    """A world with one job of `s`, whose runs begin and end on request."""

    def __init__(self, rest: str, more: str = "", kind: type[World] = World) -> None:
        super().__init__(f"{S}{rest}}}\n{more}")
        self.arrive("10:00", "raw", "2026-03-09")
        self.tick("10:00")
        self.attempt("10:00", 1)

    def attempt(self, clock: str, number: int) -> None:
        """The run of an attempt begins."""
        (request,) = [each for each in self.offer_launches(clock) if each.schedule == "a/s"]
        assert (request.attempt, request.run_key) == (number, f"{request.job}:{number}")
        assert self.claim(clock, request.job, f"run{number}", number).won
        self.run(clock, "q", "started", f"run{number}", request.job, number)

    def ends(self, clock: str, number: int, status: str = "failed", *, died: bool = False) -> Job:
        """The run of an attempt ends; its program says why, unless it died."""
        job = self.only("s")
        if status == "failed" and not died:
            assert note_failure(self.store, job.id, number, f"run{number}", f"bad {number}", at(clock))
        self.run(clock, "q", status, f"run{number}", job.id, number, died=status == "failed")
        return self.only("s")

    def waits(self, clock: str) -> tuple[str, str | None]:
        self.tick(clock)
        return self.outcome("s")

    def heard(self) -> set[str]:
        """The schedules whose triggers were satisfied by runs."""
        names = ("on_failure", "on_success", "on_start")
        return {name for name in names if any(job.satisfied_at is not None for job in self.jobs(name))}


WAITS = ("PENDING_CONSTRAINT", "W-RETRY")
