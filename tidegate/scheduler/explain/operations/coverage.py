"""Coverage: which tables the policies match before and after a deployment, and which policy counts where.

`plan` shows it before the deployment, `deploy` after it, from what the store knew before. Tables of catalogs
are those that the store knows, those of datasets follow from the apps.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from tidegate.compiler.plan.diff import Diff
from tidegate.compiler.plan.part_change import form_of
from tidegate.compiler.plan.renamed_app import renamed_app
from tidegate.compiler.plan.renames import Renames
from tidegate.domain.maintenance.pattern import parse_pattern
from tidegate.domain.model import App, Operation, Policy
from tidegate.domain.model.operation import ORDER
from tidegate.domain.value import Value
from tidegate.scheduler.decision.maintenance.rank import counting, matches
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.job import WAITING
from tidegate.scheduler.model.maintenance import (
    MAINTAINED_TABLES,
    MAINTENANCE_RECORDS,
    Record,
    TableState,
    Untouched,
)
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.renamed import renamed_record
from tidegate.scheduler.tick.maintenance.tables import landed_datasets, tables_of_datasets


class Known(Value, kw_only=True):
    """What a deployment is compared with.

    Attributes:
        tables: of catalogs, apart from those of datasets.
        waiting: the records whose job waits.
        unpublished: datasets that were never published; those of apps without any policy are left out.
    """

    apps: dict[str, App]
    tables: tuple[TableState, ...]
    waiting: tuple[Record, ...]
    unpublished: frozenset[str] = frozenset()


class PolicyCoverage(Value, kw_only=True):
    """The tables of one policy whose text or tables change.

    Attributes:
        policy: "app/policy".
        tables: the number of tables that it matches after the deployment; 0 if it is disabled or deleted.
        new, lost: the tables that it matches only after it, and only before it.
        discarded: the number of waiting jobs that are discarded.
        never_published, landed: those of its tables on which polls start nothing, and why.
    """

    policy: str
    tables: int
    new: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    discarded: int = 0
    never_published: tuple[str, ...] = ()
    landed: tuple[str, ...] = ()


class Moved(Value, kw_only=True):
    """Tables on which another policy counts for an operation than before; None: no policy counts."""

    operation: Operation
    before: str | None
    after: str | None
    tables: tuple[str, ...]


class Unmatched(Value, kw_only=True):
    """An exact pattern that matches no known table: most likely a mistake."""

    policy: str
    pattern: str


class Coverage(Value, kw_only=True):
    """What a deployment changes for the tables of the policies."""

    policies: tuple[PolicyCoverage, ...] = ()
    moved: tuple[Moved, ...] = ()
    unmatched: tuple[Unmatched, ...] = ()


def load_known(
    reader: EngineReader, wanted: Mapping[str, App] | None = None, deployed: Mapping[str, App] | None = None
) -> Known:
    """Return what a deployment is compared with, before it is carried out.

    Args:
        wanted: the apps that are deployed, by name; None if it does not matter what was published.
        deployed: the apps of the store, by name, if they are known.
    """
    apps = {each.name: each.app for each in reader.records(APPS)} if deployed is None else dict(deployed)
    tables = reader.records(MAINTAINED_TABLES)
    records = [record for record in reader.records(MAINTENANCE_RECORDS) if record.job is not None]
    ids = {record.job for record in records if record.job is not None}
    waiting = {job.id for job in reader.jobs(ids=ids) if job.state in WAITING} if ids else set[str]()
    return Known(
        apps=apps,
        tables=tuple(table for table in tables if table.dataset is None and not table.gone),
        waiting=tuple(record for record in records if record.job in waiting),
        unpublished=_unpublished(reader, {**apps, **(wanted or {})}, tables) if wanted else frozenset(),
    )


def _unpublished(
    reader: EngineReader, apps: Mapping[str, App], tables: Iterable[TableState]
) -> frozenset[str]:
    """Return the datasets that were never published; none where no app has policies."""
    if not any(app.policies for app in apps.values()):
        return frozenset()
    known = {table.name: table.history.untouched for table in tables if not table.gone}
    return frozenset(
        table.name
        for table in tables_of_datasets(apps.values())
        if (
            known[table.name] is Untouched.NEVER_PUBLISHED
            if table.name in known
            else not reader.keys_written(table.name)
        )
    )


def coverage(known: Known, changes: Diff) -> Coverage:
    """Return what a deployment with these changes means for the tables of the policies."""
    names = changes.renames
    removed = {change.name for change in changes.apps if change.action == "delete"}
    renamed = _renamed(known.apps, names)
    after = {name: app for name, app in renamed.items() if name not in removed} | changes.after
    old, new = _policies(renamed), _policies(after)
    if not (old or new):
        return Coverage()
    tables = (*known.tables, *tables_of_datasets(after.values()))
    unmatched = _unmatched(_policies(changes.after), tables)
    changed = {ref for ref in old.keys() | new.keys() if _differ(old.get(ref), new.get(ref))}
    if not changed and not names and _datasets(renamed) == _datasets(after):
        return Coverage(unmatched=unmatched)
    # What matched before matched under the former names.
    former = (*known.tables, *tables_of_datasets(known.apps.values()))
    was, will = _Covered(_policies(known.apps), former, names), _Covered(new, tables, Renames())
    lost = Counter(
        record.policy
        for record in (renamed_record(each, names) for each in known.waiting)
        if will.counts.get((record.table, record.operation)) != record.policy
    )
    landed = landed_datasets(after.values())
    new_names = set(names.datasets.values())
    unpublished = {names.datasets.get(each, each) for each in known.unpublished - new_names} - landed
    found = [
        PolicyCoverage(
            policy=ref,
            tables=len(will.tables.get(ref, {})),
            never_published=_of_these(will.tables.get(ref, {}), unpublished),
            landed=_of_these(will.tables.get(ref, {}), landed),
            new=_without(will.tables.get(ref, {}), was.tables.get(ref, {})),
            lost=_without(was.tables.get(ref, {}), will.tables.get(ref, {})),
            discarded=lost[ref],
        )
        for ref in sorted(old.keys() | new.keys())
    ]
    return Coverage(
        policies=tuple(
            each for each in found if each.new or each.lost or each.discarded or each.policy in changed
        ),
        moved=_moved(was, will),
        unmatched=unmatched,
    )


class _Covered:
    """Which tables the policies match, and which policy counts for each operation.

    Args:
        names: by which tables and policies have other names now than where they match.
    """

    def __init__(self, policies: Mapping[str, Policy], tables: Iterable[TableState], names: Renames) -> None:
        self.tables: dict[str, dict[str, None]] = {}
        self.counts: dict[tuple[str, Operation], str] = {}
        for table in tables:
            found, name = matches(policies, table), names.datasets.get(table.name, table.name)
            for match in found:
                self.tables.setdefault(names.policy(match.ref), {})[name] = None
            for operation, match in counting(found).items():
                self.counts[name, operation] = names.policy(match.ref)


def _renamed(apps: Mapping[str, App], names: Renames) -> dict[str, App]:
    if not names:
        return dict(apps)
    found = (renamed_app(app, names) for app in apps.values())
    return {app.name: app for app in found}


def _datasets(apps: Mapping[str, App]) -> list[TableState]:
    return list(tables_of_datasets(apps[name] for name in sorted(apps)))


def _policies(apps: Mapping[str, App]) -> Mapping[str, Policy]:
    return {f"{app.name}/{name}": policy for app in apps.values() for name, policy in app.policies.items()}


def _differ(old: Policy | None, new: Policy | None) -> bool:
    """Return whether a policy has changed; one that only moved in its file has not."""
    if old is None or new is None:
        return True
    return old != new and form_of(old) != form_of(new)


def _without(tables: Mapping[str, None], others: Mapping[str, None]) -> tuple[str, ...]:
    return tuple(sorted(set(tables) - set(others)))


def _of_these(tables: Mapping[str, None], some: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in tables if name in some))


def _moved(was: _Covered, will: _Covered) -> tuple[Moved, ...]:
    groups: dict[tuple[Operation, str | None, str | None], list[str]] = {}
    for table, operation in sorted(was.counts.keys() | will.counts.keys()):
        before, after = was.counts.get((table, operation)), will.counts.get((table, operation))
        if before != after:
            groups.setdefault((operation, before, after), []).append(table)
    return tuple(
        Moved(operation=operation, before=before, after=after, tables=tuple(tables))
        for (operation, before, after), tables in sorted(
            groups.items(), key=lambda each: (ORDER[each[0][0]], each[0][1] or "", each[0][2] or "")
        )
    )


def _unmatched(policies: Mapping[str, Policy], tables: Sequence[TableState]) -> tuple[Unmatched, ...]:
    exact = [
        (ref, pattern)
        for ref, policy in policies.items()
        if policy.enabled
        for pattern in policy.tables
        if parse_pattern(pattern).exact
    ]
    known = {name for table in tables for name in _exact_names(table)} if exact else set[_ExactName]()
    return tuple(
        Unmatched(policy=ref, pattern=pattern)
        for ref, pattern in exact
        if (min(pattern.count("."), 2), pattern) not in known
    )


_ExactName = tuple[int, str]
"""An exact pattern that matches a table, with its number of dots: without those in the table's own name."""


def _exact_names(table: TableState) -> Iterator[_ExactName]:
    if table.dataset is not None:
        yield 0, table.dataset
    parts = table.catalog_name.split(".", 2)
    for dots in range(len(parts)):
        yield dots, ".".join(parts[len(parts) - 1 - dots :])
