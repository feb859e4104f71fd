"""Names: their lookup as users type them: "app/schedule", or the schedule alone if only one app has it.

The namespace of the app may be before it, and is checked: "namespace/app/schedule". An unknown name is
refused with the closest existing name.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress

from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.domain.model import App, Program
from tidegate.domain.part_name import app_of, name_of, namespace_and_app, namespace_of, without_namespace
from tidegate.domain.suggest import did_you_mean
from tidegate.scheduler.model.deployed import APPS, TASK_KIND, ScheduleState
from tidegate.scheduler.model.job import SHORT_DIGITS, Job, hash_of
from tidegate.scheduler.model.maintenance import TableState, policy_ref
from tidegate.scheduler.model.refused import AmbiguousName, MaintenanceRefused, UnknownName
from tidegate.scheduler.model.retention import PASS_CURSOR
from tidegate.scheduler.store.engine_reader import EngineReader, namespaces_of_apps

JOBS_COMPARED = 1000
"""A mistyped job id is compared with this many of the newest jobs."""

_POLICY = policy_ref("")
"""In the name under which the jobs of a policy are kept."""

TABLES_NAMED = 5
"""So many tables with the same end of their names are named."""


def in_namespace(reader: EngineReader, name: str) -> str:
    """Return a name without the namespace that it may begin with.

    Raises:
        UnknownName: its app is in another namespace.
    """
    namespace, rest = namespace_of(name), without_namespace(name)
    if namespace is None:
        return name
    for app in reader.records(APPS, name=[app_of(rest)]):
        if app.namespace != namespace:
            raise _in_other_namespace(app.name, app.namespace, namespace, rest)
    return rest


def find_schedule(reader: EngineReader, name: str, apps: Collection[str] | None = None) -> ScheduleState:
    """Return the deployed schedule of a name.

    Args:
        apps: the only ones to look in, and to name in errors; None for all.

    Raises:
        UnknownName: no app has it.
        AmbiguousName: several apps have it.
    """
    name = in_namespace(reader, name)
    found = refs_named(reader, name, apps)
    if len(found) == 1:
        return reader.schedules(refs=found)[0]
    if found:
        raise AmbiguousName(f'several apps have a schedule "{name}"', f"write one of {', '.join(found)}")
    refs = [ref for ref in reader.schedule_refs() if apps is None or app_of(ref) in apps]
    if not refs:
        raise UnknownName(
            f'schedule "{name}" is not deployed; the store has no schedules', "run `tidegate deploy` first"
        )
    if _POLICY in name:
        raise UnknownName(
            f'"{name}" is a policy for tables, not a schedule',
            "`tidegate maintenance plan` shows what policies do next, `tidegate why TABLE` why one waits",
        )
    known = refs if "/" in name else [name_of(ref) for ref in refs]
    raise UnknownName(f'schedule "{name}" is not deployed', did_you_mean(name, known, "schedules"))


def refs_named(reader: EngineReader, name: str, apps: Collection[str] | None = None) -> list[str]:
    """Return the refs of the schedules and tasks that have a name, with their app or alone, by ref.

    Args:
        name: without a namespace.
        apps: the only ones to look in; None for all.
    """
    if "/" in name:
        found = [state.ref for state in reader.schedules(refs=[name])]
    else:
        found = [ref for ref in reader.schedule_refs() if name_of(ref) == name]
    return [ref for ref in found if apps is None or app_of(ref) in apps]


def find_source_of_jobs(reader: EngineReader, name: str, apps: Collection[str] | None = None) -> str:
    """Return the name under which jobs are listed: of a schedule, or of a policy as "app/policy:NAME".

    Args:
        apps: the only ones to look in, and to name in errors; None for all.

    Raises:
        UnknownName: nothing has it.
        AmbiguousName: several apps have it.
    """
    name = in_namespace(reader, name)
    # The schedule or the policy may be deleted, and its jobs are still there.
    if "/" in name and (apps is None or app_of(name) in apps) and reader.jobs(schedules=[name], limit=1):
        return name
    if _POLICY not in name:
        return find_schedule(reader, name, apps).ref
    known = [
        policy_ref(f"{deployed.name}/{each}")
        for deployed in reader.records(APPS)
        if apps is None or deployed.name in apps
        for each in deployed.app.policies
    ]
    if name in known:
        return name
    raise UnknownName(f'policy "{name}" is not deployed', did_you_mean(name, known, "policies"))


def find_task(
    reader: EngineReader, name: str, apps: Collection[str] | None = None, *, or_schedule: bool = False
) -> ScheduleState:
    """Return the deployed task of a name.

    Args:
        apps: the only ones to look in; None for all.
        or_schedule: the name of a schedule will do as well: backfills have both.

    Raises:
        UnknownName: no app has it, or it is that of a schedule.
        AmbiguousName: several apps have it.
    """
    if or_schedule:
        return find_schedule(reader, name, apps)
    name = in_namespace(reader, name)
    states = reader.schedules(refs=refs_named(reader, name, apps))
    found = [state for state in states if state.spec.task is not None]
    if len(found) == 1:
        return found[0]
    if found:
        refs = ", ".join(state.ref for state in found)
        raise AmbiguousName(f'several apps have a task "{name}"', f"write one of {refs}")
    tasks = [state for state in reader.schedules(kind=TASK_KIND) if apps is None or state.app in apps]
    known = [state.ref for state in tasks] if "/" in name else [state.name for state in tasks]
    if states:
        raise UnknownName(f'"{name}" is a schedule, and no task', did_you_mean(name, known, "tasks"))
    raise UnknownName(f'task "{name}" is not deployed', did_you_mean(name, known, "tasks"))


def find_dataset(reader: EngineReader, name: str, apps: Collection[str] | None = None) -> str:
    """Return "app/dataset" of the deployed dataset of a name.

    Args:
        apps: the only ones to look in, and to name in errors; None for all.

    Raises:
        UnknownName: no app has it.
        AmbiguousName: several apps have it.
    """
    seen = [deployed for deployed in reader.records(APPS) if apps is None or deployed.name in apps]
    known = [f"{deployed.name}/{each}" for deployed in seen for each in deployed.app.datasets]
    return _one_of("dataset", in_namespace(reader, name), known)


def find_program(reader: EngineReader, name: str, project: str) -> tuple[App, Program]:
    """Return the deployed program of a name, and its app.

    Args:
        project: whose programs are meant.

    Raises:
        UnknownName: no app has it.
        AmbiguousName: several apps have it.
    """
    apps = [each.app for each in reader.records(APPS) if each.project in (NO_PROJECT, project)]
    known = {f"{app.name}/{each}": (app, program) for app in apps for each, program in app.programs.items()}
    return known[_one_of("program", in_namespace(reader, name), list(known))]


def _one_of(kind: str, name: str, known: Sequence[str]) -> str:
    """Return the one of some parts ("app/part") that has a name, with its app or alone."""
    found = [ref for ref in known if name in (ref, name_of(ref))]
    if len(found) == 1:
        return found[0]
    if found:
        raise AmbiguousName(f'several apps have a {kind} "{name}"', f"write one of {', '.join(found)}")
    shown = known if "/" in name else [name_of(ref) for ref in known]
    raise UnknownName(f'{kind} "{name}" is not deployed', did_you_mean(name, shown, f"{kind}s"))


def find_job(reader: EngineReader, name: str, apps: Collection[str] | None = None) -> Job:
    """Return the job of an id, or of the beginning of its id or of the hash in it, if only one has that.

    Args:
        apps: the only ones to look in, and to name in errors; None for all.

    Raises:
        UnknownName: no job has it.
        AmbiguousName: several jobs have it.
    """
    for job in reader.jobs(ids=[name]):
        if apps is None or job.app in apps:
            return job
    found = reader.jobs(begins=name, apps=apps, limit=JOBS_COMPARED) if name else ()
    found = tuple(job for job in found if hash_of(job.id).startswith(name)) or found
    if len(found) == 1:
        return found[0]
    if found:
        raise AmbiguousName(
            f'{len(found)} jobs have an id that begins with "{name}"',
            f"the newest is {found[-1].id}; `tidegate jobs list --all` shows the others",
        )
    recent = reader.jobs(apps=apps, limit=JOBS_COMPARED)
    hint = did_you_mean(name, [job.id for job in recent], "jobs")
    raise UnknownName(f'there is no job "{name}"', hint + pruned_hint(reader))


def short_ids(reader: EngineReader, ids: Collection[str]) -> dict[str, str]:
    """Return what people write for each of some jobs: the first digits of the hash in its id.

    They are `SHORT_DIGITS`, more where another job begins with these, and the whole id where all are equal.
    """
    hashes = {hash_of(id)[:SHORT_DIGITS] for id in ids}
    stored = reader.jobs(hashes=hashes)
    alike: dict[str, set[str]] = {}
    for id in {job.id for job in stored}.union(ids):
        alike.setdefault(hash_of(id)[:SHORT_DIGITS], set()).add(id)
    found: dict[str, str] = {}
    for id in ids:
        whole = hash_of(id)
        others = [hash_of(each) for each in alike[whole[:SHORT_DIGITS]] - {id}]
        lengths = range(SHORT_DIGITS, len(whole) + 1)
        begins = (whole[:n] for n in lengths if not any(each.startswith(whole[:n]) for each in others))
        found[id] = next(begins, id)
    return found


def pruned_hint(reader: EngineReader) -> str:
    """Return what to say of an unknown job: that it may have been pruned; "" where nothing ever was."""
    if reader.cursor(PASS_CURSOR) is None:
        return ""
    return (
        "; jobs that ended longer ago than `finished_jobs` in [retention] are removed, the ledger counts them"
    )


def find_target(reader: EngineReader, name: str) -> str:
    """Return the ref of a schedule, or the id of a job that has it or begins so.

    Raises:
        UnknownName: nothing has it.
        AmbiguousName: several schedules have it, or several jobs.
    """
    if "/" not in name:
        jobs = reader.jobs(ids=[name])
        if jobs:
            return jobs[0].id
    try:
        return find_schedule(reader, name).ref
    except UnknownName as unknown:
        if "/" in name:
            raise
        with suppress(UnknownName):
            return find_job(reader, name).id
        raise UnknownName(unknown.message, f"{unknown.hint}{pruned_hint(reader)}") from None


def find_table(
    reader: EngineReader, name: str, seen: Callable[[TableState], bool] = lambda _: True
) -> TableState:
    """Return the table of a name: any of its whole names, or an end of them that only one table has.

    Args:
        seen: whether a table may be found by an end of its name, and be named in errors.

    Raises:
        MaintenanceRefused: the name is unknown (E-TABLE).
        AmbiguousName: several tables have it.
    """
    from tidegate.scheduler.explain.measured import known_tables
    from tidegate.scheduler.tick.maintenance.tables import table_named

    name = in_namespace(reader, name)
    found = table_named(reader, name)
    if found is not None:
        return found
    known = [table for table in known_tables(reader) if seen(table)]
    ends = [
        table
        for table in known
        if any(each.endswith((f".{name}", f"/{name}")) for each in (table.name, table.catalog_name))
    ]
    if len(ends) == 1:
        return ends[0]
    if ends:
        raise AmbiguousName(
            f'{len(ends)} tables have the name "{name}"',
            f"write one of {', '.join(table.name for table in ends[:TABLES_NAMED])}",
        )
    if not known:
        raise MaintenanceRefused(
            "E-TABLE",
            f'no table "{name}" is known; the store knows no tables',
            "`tidegate deploy` adds those of datasets; those of catalogs are listed by runs in Dagster",
        )
    names = [table.name for table in known]
    raise MaintenanceRefused("E-TABLE", f'no table "{name}" is known', did_you_mean(name, names, "tables"))


def find_app(reader: EngineReader, name: str | None) -> str | None:
    """Return the deployed app of a name, "app" or "namespace/app"; None means all apps.

    Raises:
        UnknownName: it is not deployed, or is in another namespace.
    """
    return None if name is None else app_named(reader, name)


def app_named(reader: EngineReader, name: str) -> str:
    """Return the deployed app of a name; see `find_app`."""
    namespace, app = namespace_and_app(name)
    known = namespaces_of_apps(reader)
    if app not in known:
        raise UnknownName(f'app "{name}" is not deployed', did_you_mean(app, list(known), "apps"))
    if namespace not in ("", known[app]):
        raise _in_other_namespace(app, known[app], namespace, app)
    return app


def _in_other_namespace(app: str, actual: str, named: str, rest: str) -> UnknownName:
    return UnknownName(
        f'app {app} is in the namespace "{actual}", not in "{named}"', f"write {actual}/{rest}, or {rest}"
    )
