"""A world of cycle tasks with a witness, and what people do to their instances."""

from tests.worlds.by import CLI
from tests.worlds.witness import Witness
from tests.worlds.world import DATASETS, at, compiled_app
from tidegate.domain.model import App
from tidegate.scheduler.commands.backfills.cancel import cancel_backfill
from tidegate.scheduler.commands.backfills.request import Wanted
from tidegate.scheduler.commands.backfills.start import start_backfill
from tidegate.scheduler.commands.tasks.instances import InstanceName, act
from tidegate.scheduler.commands.tasks.reports import Times, report
from tidegate.scheduler.decision.instances.actions import Action
from tidegate.scheduler.explain.explanation import Explanation
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.model.job import Job

FEED = """
  feed: {type: source, dataset: raw, cycle: hour, update: outside, status: active}
  clean: {program: q, cycle: hour, at: {minute: 10}, depends_on: [feed], status: active}
  daily: {program: r, cycle: day, at: {time: "02:00"}, depends_on: [clean, self], status: active}
"""


def tasks_of(tasks: str) -> App:
    """The app of some tasks, without errors."""
    return compiled_app(DATASETS.replace("schedules:", "tasks:") + tasks)


class TaskWorld(Witness):
    """An app `a` of tasks in a store."""

    compiled = staticmethod(tasks_of)

    def __init__(self, tasks: str = FEED, *, start: str = "00:00") -> None:
        super().__init__(tasks, start=start)

    def act(
        self, clock: str, task: str, key: str, action: Action, number: int = 0, *, downstream: bool = False
    ):
        """A person does something to an instance."""
        name = InstanceName(scheduled=key, number=number)
        with self.store.transaction() as transaction:
            return act(transaction, f"a/{task}", name, action, at(clock), CLI, downstream=downstream)

    def reported(self, clock: str, task: str, *keys: str, status: str = "successful") -> None:
        """An instance is reported from outside."""
        with self.store.transaction() as transaction:
            report(transaction, f"a/{task}", Times(scheduled=keys), status, at(clock), CLI)

    def backfill(self, clock: str, task: str, first: str, last: str, *, upstream: bool = False) -> None:
        """A person starts a backfill."""
        wanted = Wanted(app="a", task=task, from_=first, to=last, upstream=upstream)
        with self.store.transaction() as transaction:
            start_backfill(transaction, wanted, at(clock), CLI)

    def cancel_backfill(self, clock: str, number: int) -> None:
        with self.store.transaction() as transaction:
            cancel_backfill(transaction, number, at(clock), CLI)

    def launch_all(self, clock: str) -> list[str]:
        """Offer, claim and start all that may launch; each attempt has a run of its own."""
        requests = self.offer_launches(clock)
        for request in requests:
            run = f"run-{request.job}-{request.attempt}"
            assert self.claim(clock, request.job, run, request.attempt).won
            program = self.job(request.job).launch.program
            self.run(clock, program, "started", run, request.job, request.attempt)
        return [request.job for request in requests]

    def end(self, clock: str, job: str, status: str = "succeeded") -> None:
        """The run of the newest attempt ends."""
        found = self.job(job)
        self.run(clock, found.launch.program, status, found.run_id, job, found.attempt)

    def instance(self, task: str, key: str, number: int = 0) -> Job:
        """The instance of a task that was not discarded."""
        (job,) = [
            job
            for job in self.jobs(task)
            if job.instance is not None
            and (job.key, job.instance.number) == (key, number)
            and job.state != "DISCARDED"
        ]
        return job

    def why(self, clock: str, task: str, key: str, number: int = 0) -> Explanation:
        with self.store.reading() as reader:
            (found,) = explain(reader, self.instance(task, key, number).id, at(clock))
        return found
