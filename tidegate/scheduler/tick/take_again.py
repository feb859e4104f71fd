"""Take again: the slots and the place in rates of a job that gave them back, and has a run nevertheless.

every offer rejected   ──► given back (`scheduler.launch.outbox`): other jobs may take them
due to be offered      ──► taken again by a tick, once the limits of its schedule allow it
a run appears anyway   ──► taken again here, whatever the limits say: the run is active
"""

from datetime import datetime

from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.run import Launched
from tidegate.scheduler.store.protocol import EngineTransaction


def take_again(transaction: EngineTransaction, job: Job, now: datetime) -> None:
    """Take the slots and the place in rates of a job whose run exists, if the job gave them back."""
    if job.gave_back:
        transaction.take_slots({job.id: job.resources})
        transaction.add_launches([Launched(program=job.program, holder=job.launch_holder, at=now)])
