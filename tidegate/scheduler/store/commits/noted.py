"""What a person changes of commits and watermarks by a command, in the journal.

    release, abandon, abandon one output, forget watermarks
                                                     an entry in the same transaction
    recover                                          one as each commit is finished or withdrawn
    reset watermarks, adopt a table                  one as the store accepts the commit that does it: from
                                                     then on any process finishes it

Runs, and the recovery job, use the plain store and write none.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Engine, insert, select

from tidegate.domain.value import Value
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.work_of_job import work_of_commit
from tidegate.scheduler.store.commits.recovery_states import Deed
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.sql.journal import JOURNAL_TABLE
from tidegate.scheduler.store.sql.tables import jobs


class NotedAction(StrEnum):
    """What a person asks for."""

    RELEASE = "release"
    ABANDON = "abandon"
    ADOPT = "adopt"
    RECOVER = "recover"
    RESET = "reset"
    FORGET = "forget"


DECIDES: dict[NotedAction, frozenset[Deed]] = {
    NotedAction.RELEASE: frozenset({Deed.RELEASE}),
    NotedAction.ABANDON: frozenset({Deed.ABANDON, Deed.ABANDON_OUTPUT}),
    NotedAction.ADOPT: frozenset({Deed.PUT, Deed.RAISE_TOKEN}),
    NotedAction.RECOVER: frozenset({Deed.FINISH, Deed.ABANDON}),
    NotedAction.RESET: frozenset({Deed.PUT}),
    NotedAction.FORGET: frozenset({Deed.FORGET}),
}
"""The changes of the store that carry out an action; others, such as those of the steps, have no entry."""

OF_WATERMARKS = frozenset({NotedAction.RESET, NotedAction.FORGET})


class Note(Value, kw_only=True):
    """What the entries of a command have in common.

    Attributes:
        schedules: those ("app/name") whose history has what is of no job.
        data: what it is about.
    """

    action: NotedAction
    by: By
    schedules: tuple[str, ...] = ()
    data: Mapping[str, Any] = {}


class NotedCommitStepStore(SqlCommitStepStore):
    """The store of commits as a command uses it: see the module.

    Args:
        clock: says when an entry is written.
    """

    def __init__(self, engine: Engine, note: Note, clock: Callable[[], datetime]) -> None:
        super().__init__(engine)
        self._said, self._clock = note, clock

    def _note(self, connection: Connection, deed: Deed, commit: str, facts: Mapping[str, Any]) -> None:
        said = self._said
        if deed not in DECIDES[said.action]:
            return
        outcome = (
            {Deed.FINISH: "finished", Deed.ABANDON: "withdrawn"} if said.action is NotedAction.RECOVER else {}
        )
        data = {
            "action": said.action.value,
            **({"commit": commit} if commit else {}),
            **said.data,
            **facts,
            **({"outcome": outcome[deed]} if deed in outcome else {}),
            **said.by.noted,
        }
        kind = EntryKind.WATERMARK if said.action in OF_WATERMARKS else EntryKind.COMMIT
        row = {"at": self._clock(), "kind": kind, "data": data}
        for about in self._about(connection, commit):
            connection.execute(insert(JOURNAL_TABLE).values({**row, **about}))

    def _about(self, connection: Connection, commit: str) -> list[dict[str, str]]:
        """Return what the entries are about: a commit's job with its schedule, or else the named schedules.

        Where there is neither, a commit is found by its id in place of a job's, as `commits show` does.
        """
        job = work_of_commit(commit).job
        schedule = connection.execute(select(jobs.c.schedule).where(jobs.c.id == job)).scalar()
        if schedule is not None:
            return [{"job": job, "schedule": schedule}]
        if self._said.schedules:
            return [{"schedule": ref} for ref in self._said.schedules]
        return [{"job": job}] if commit else [{}]


def notes_of(
    reader: EngineReader, commit: str, kinds: Sequence[EntryKind] = (EntryKind.COMMIT,)
) -> tuple[Entry, ...]:
    """Return what people have done with a commit by a command, in the order in which it was written."""
    found = reader.journal(job=work_of_commit(commit).job, kinds=kinds)
    return tuple(entry for entry in found if entry.data.get("commit") == commit)
