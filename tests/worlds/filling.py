"""A world of schedules that people backfill."""

from typing import Any

from tests.worlds.by import CLI
from tests.worlds.witness import Witness
from tests.worlds.world import DATASETS, World, app_of, at
from tidegate.scheduler.commands.backfills.cancel import cancel_backfill, resume_backfill
from tidegate.scheduler.commands.backfills.request import Progress, Wanted, progress
from tidegate.scheduler.commands.backfills.start import start_backfill
from tidegate.scheduler.commands.tasks.instances import InstanceName, act
from tidegate.scheduler.decision.instances.actions import Action
from tidegate.scheduler.model.job import Job

DAILY = """
daily: {program: p, for_each: day, trigger: {partitions: {dataset: hourly}}, status: active}
"""


HEAD = DATASETS.replace(
    "  plain: {}", "  landed: {partitions: {cycle: hour, start: 2013-01-01-00:00}}\n  plain: {}"
).replace("schedules:", "  h: {run: programs.h, writes: [hourly]}\n  c: {run: programs.c}\nschedules:")


class Filling(World):
    """What people do to the backfills of schedules of an app `a`."""

    compiled = staticmethod(lambda schedules: app_of(schedules, HEAD))

    def backfill(self, clock: str, name: str, *keys: str, **wanted: Any) -> int:
        """A person starts a backfill of single keys, or of a range; returns its number."""
        between = wanted.pop("between", None)
        ends = {} if between is None else {"from_": between[0], "to": between[1]}
        asked = Wanted(app="a", task=name, keys=keys, **ends, **wanted)
        with self.store.transaction() as transaction:
            return start_backfill(transaction, asked, at(clock), CLI).number

    def cancel_backfill(self, clock: str, number: int = 1) -> Progress:
        with self.store.transaction() as transaction:
            return cancel_backfill(transaction, number, at(clock), CLI)

    def resume_backfill(self, clock: str, number: int = 1) -> Progress:
        with self.store.transaction() as transaction:
            return resume_backfill(transaction, number, at(clock), CLI)

    def progress(self, number: int = 1) -> dict[str, int]:
        """How many instances of a backfill have each status, without those that none has."""
        with self.store.reading() as reader:
            return {status: count for status, count in progress(reader, number).counts.items() if count}

    def made(self, number: int = 1) -> list[Job]:
        """The instances of a backfill that were not discarded, in order."""
        with self.store.reading() as reader:
            found = reader.instances(backfill=number)
        return sorted(found, key=lambda job: (job.of_task.lot, job.of_task.scheduled, job.key))

    def keys(self, number: int = 1) -> list[str]:
        return [job.key for job in self.made(number)]

    def rerun(self, clock: str, name: str, key: str, number: int = 1) -> None:
        with self.store.transaction() as transaction:
            named = InstanceName(scheduled=key, number=number)
            act(transaction, f"a/{name}", named, Action.RERUN, at(clock), CLI)

    def go(self, clock: str) -> list[str]:
        """Tick, and launch all that may run; returns the keys of these jobs."""
        self.tick(clock)
        requests = self.offer_launches(clock)
        for request in requests:
            run = f"run-{request.job}-{request.attempt}"
            assert self.claim(clock, request.job, run, request.attempt).won
            self.run(clock, request.launch.program, "started", run, request.job, request.attempt)
        return [request.key for request in requests]

    def end_of(self, clock: str, key: str, status: str = "succeeded") -> None:
        """The running jobs of a key end."""
        with self.store.reading() as reader:
            running = [job for job in reader.jobs() if job.key == key and job.state == "LAUNCHED"]
        for job in running:
            assert job.launch is not None
            self.run(clock, job.launch.program, status, job.run_id or "", job.id, job.attempt)


class FilledWorld(Filling, Witness):
    """An app `a` of schedules in a store, with a witness."""
