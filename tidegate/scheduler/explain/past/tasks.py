"""Past tasks: what the journal says of tasks besides the entries of single instances.

A deployment writes the first instances of a task before the task itself, so such entries wait here for it. A
backfill is a cursor of the store, and the recorded upstream instances are rows of their own.
"""

from collections.abc import Iterable, Mapping

import msgspec

from tidegate.scheduler.commands.tasks.backfills import NEWEST
from tidegate.scheduler.decision.fold.instances import made_together
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.upstream import backfill_cursor

MAKES = (EntryKind.INSTANCE, EntryKind.REMADE)
"""Entries that make an instance as its task asks for it."""


class PastTasks:
    """What was read of tasks so far."""

    def __init__(self) -> None:
        self._early: dict[str, list[Entry]] = {}
        self._made: dict[str, list[Entry]] = {}
        self._backfills: dict[int, object] = {}

    def begin(self, backfills: Mapping[int, object]) -> None:
        """Begin with the backfills of a snapshot."""
        self._backfills = dict(backfills)

    def read(self, entry: Entry) -> None:
        """Take note of an entry that makes an instance, or of a backfill."""
        if entry.kind in MAKES:
            made = self._made.setdefault(entry.schedule or "", [])
            if made and made[-1].at != entry.at:
                made.clear()
            made.append(entry)
        elif entry.kind is EntryKind.BACKFILL:
            self._backfills[entry.data["backfill"]["number"]] = entry.data["backfill"]

    def wait_for_task(self, entry: Entry) -> None:
        """Keep the entry of an instance whose task is not known yet."""
        if entry.kind is EntryKind.INSTANCE:
            self._early.setdefault(entry.schedule or "", []).append(entry)

    def early(self, deployed: Entry) -> tuple[Entry, ...]:
        """Return the entries that have waited for the entry of a task, written at the same instant."""
        found = self._early.pop(deployed.schedule or "", ())
        return tuple(entry for entry in found if entry.at == deployed.at)

    def remade(self, deployed: Entry, jobs: Mapping[str, Job], state: ScheduleState) -> list[Job]:
        """Return the instances that a deployment has made, as those of the task as it was deployed."""
        entries = [entry for entry in self._made.get(state.ref, ()) if entry.at == deployed.at]
        made = [id for entry in entries for id in _jobs_made(entry)]
        return [
            msgspec.structs.replace(jobs[id], fingerprint=state.fingerprint, priority=state.spec.priority)
            for id in made
            if id in jobs
        ]

    def put(self, transaction: EngineTransaction, jobs: Iterable[Job]) -> None:
        """Write the backfills, and the recorded upstream instances of these jobs."""
        for number, backfill in self._backfills.items():
            transaction.set_cursor(backfill_cursor(number), backfill)
        if self._backfills:
            transaction.set_cursor(NEWEST, max(self._backfills))
        instances = ((job.id, job.instance) for job in jobs if job.instance is not None)
        edges = {id: tuple(edge.job for edge in each.upstream) for id, each in instances if each.upstream}
        transaction.put_edges(edges)


def _jobs_made(entry: Entry) -> list[str]:
    return [id for id, _ in made_together(entry)] or [entry.job or ""]
