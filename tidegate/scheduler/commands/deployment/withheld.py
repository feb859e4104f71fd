"""Withheld publishes in a deployment: one of a part that is renamed or removed is in its way.

Its sequence names datasets, programs and places that would not exist any more. `--force` abandons it, in the
deployment's transaction.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from tidegate.compiler.plan.blocked import Blocked, withheld
from tidegate.compiler.plan.renames import Renames
from tidegate.domain.model import App
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.records.withheld_publish import WITHHELD_PUBLISHES
from tidegate.scheduler.store.answers import Commitment
from tidegate.scheduler.store.protocol import EngineTransaction


def withheld_blocks(
    commitments: Iterable[Commitment],
    names: Renames,
    deployed: Mapping[str, App],
    removed: frozenset[str],
    after: Mapping[str, App],
) -> Iterator[Blocked]:
    """Yield a block for each withheld publish of a part that is renamed or removed."""
    publishes = [each for each in commitments if each.withheld]
    if not publishes:
        return
    kept = {f"{app.name}/{part}" for app in after.values() for part in (*app.datasets, *app.programs)}
    renamed = {**names.programs, **names.datasets}
    gone = {
        ref
        for name, app in deployed.items()
        if name in removed or names.app(name) in after
        for ref in (f"{name}/{part}" for part in (*app.datasets, *app.programs))
        if ref in renamed or ref not in kept
    }
    for commitment in publishes:
        touched_parts = sorted(ref for ref in gone if commitment.touches({ref}))
        if touched_parts:
            yield withheld(touched_parts[0], commitment.commit)


def give_up_withheld(
    transaction: EngineTransaction, blocked: Iterable[Blocked], now: datetime, by: By
) -> None:
    """Abandon the withheld publishes of parts that a deployment renames or removes by force."""
    commits = [each.withheld for each in blocked if each.withheld]
    if not commits:
        return
    found = transaction.records(WITHHELD_PUBLISHES, commit=commits)
    transaction.drop_records(WITHHELD_PUBLISHES, commits)
    jobs = {job.id: job.schedule for job in transaction.jobs(ids=[each.job for each in found])}
    transaction.add_journal(
        [
            Entry(
                at=now,
                kind=EntryKind.COMMIT,
                job=each.job,
                schedule=jobs.get(each.job),
                data={
                    "action": "abandon",
                    "commit": each.commit,
                    "datasets": list(each.datasets),
                    "withheld": True,
                    **by.noted,
                },
            )
            for each in found
        ]
    )
