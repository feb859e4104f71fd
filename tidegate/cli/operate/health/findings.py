"""What `tidegate doctor` makes of what it has read: a finding for each part, with its remedy."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from tidegate.cli.last_tick import HEARTBEAT_WITHIN
from tidegate.cli.printing import instant
from tidegate.domain.wording import first_of
from tidegate.scheduler.explain.missed import SilentCron
from tidegate.scheduler.intake.table_checks import TableChecks
from tidegate.scheduler.launch.active_host import ActiveHost
from tidegate.scheduler.model.obstacle import LocationState
from tidegate.scheduler.model.records.watched import WatchedFolder
from tidegate.scheduler.store.answers import Damage
from tidegate.scheduler.tick.clock import is_ahead, is_late
from tidegate.spark_jobs.commit.process import shown

if TYPE_CHECKING:
    from tidegate.processes.alive import DagsterState, Dispatcher
    from tidegate.scheduler.explain.work import Work


NAMED_MAX = 20
"""So many apps, programs, or schedules without their next fire are named: `tidegate status` is one screen."""


class Health(StrEnum):
    """How a part is."""

    OK = "ok"
    NOTE = "note"
    WRONG = "wrong"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """What was found of one part.

    Attributes:
        part: its name.
        remedy: what to do; "" if nothing is to be done.
    """

    part: str
    health: Health
    text: str
    remedy: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Engine:
    """What the store says.

    Attributes:
        apps: the project's apps that are deployed.
        ticked_at: the engine's clock.
        host: the lease of the project's host, whether it holds or not.
        renewed: a lease that does not hold was renewed while one looked, so its host has another clock.
        deployed_at: when anything was deployed last.
        folders: the watched folders.
        version: of Tidegate, that this command has loaded.
        versions: of the processes at work, each with what it is.
        damage: damaged parts of the store.
        tables: what the recovery job has found of the tables; None before its first look.
        writer: the process that writes to the store now, in words; None if none is known.
        silent: active schedules whose next fire is later than their crons say.
        locations: the code locations of the host's workspace, as it has seen them last.
        hostless: the programs ("app/program") whose jobs wait for a host.
    """

    apps: Sequence[str]
    ticked_at: datetime | None
    host: ActiveHost | None
    renewed: bool = False
    deployed_at: datetime | None = None
    folders: Sequence[WatchedFolder] = ()
    version: str = ""
    versions: Sequence[tuple[str, str]] = ()
    tables: TableChecks | None = None
    damage: Sequence[Damage] = ()
    silent: Sequence[SilentCron] = ()
    writer: str | None = None
    locations: Mapping[str, LocationState] = field(default_factory=dict[str, LocationState])
    hostless: Sequence[str] = ()


def withheld_findings(work: "Work", now: datetime) -> Iterator[Finding]:
    """Yield a finding if publishes are withheld: they wait for a person, without end."""
    if work.withheld:
        remedy = "`tidegate commits list` names them; release or abandon each"
        text = withheld_text(work, now)
        yield Finding(part="withheld publishes", health=Health.NOTE, text=text, remedy=remedy)


def withheld_text(work: "Work", now: datetime) -> str:
    """Return how many publishes are withheld, and since when the oldest of them."""
    since = work.oldest_withheld
    if since is None:
        return "0"
    from tidegate.scheduler.explain.operations.measure_text import age_text

    return f"{work.withheld:,}, the oldest for {age_text(now - since)}, since {instant(since)}"


def engine_findings(engine: Engine, now: datetime, every: int) -> Iterator[Finding]:
    """Yield a finding for the deployment, the host and the last tick.

    Args:
        every: the seconds between two ticks.
    """
    if engine.apps:
        named = first_of(engine.apps, NAMED_MAX)
        yield Finding(part="deployment", health=Health.OK, text=f"deployed: {named}")
    else:
        yield Finding(
            part="deployment",
            health=Health.WRONG,
            text="nothing of this project is deployed",
            remedy="run `tidegate deploy`",
        )
    yield _host(engine.host, now, renewed=engine.renewed)
    hosted = engine.host is not None and engine.host.holds(now)
    if engine.hostless and not hosted:
        text = f"wait for a host (W-HOST): {first_of(engine.hostless, NAMED_MAX)}"
        yield Finding(part="existing jobs", health=Health.WRONG, text=text, remedy="start `tidegate host`")
    yield from (_location(name, state, hosted=hosted) for name, state in engine.locations.items())
    yield _tick(engine, now, every)
    yield from (_silent(each) for each in engine.silent[:NAMED_MAX])
    yield _versions(engine)
    yield from (_damaged(each) for each in engine.damage)
    yield from (_folder(each) for each in engine.folders)
    if engine.tables is not None:
        yield _tables(engine.tables)


def _location(name: str, state: LocationState, *, hosted: bool) -> Finding:
    part, since = f"location {name}", f"since {instant(state.since)}"
    if not state.problem:
        return Finding(part=part, health=Health.OK, text=f"loaded {since}")
    return Finding(
        part=part,
        # Without a host it is not known whether it is still so.
        health=Health.WRONG if hosted else Health.NOTE,
        text=f"failed {since}: {state.problem}",
        remedy="correct it, or start its code server; the host loads it again, and its jobs go on",
    )


def _damaged(damage: Damage) -> Finding:
    if not damage.table:
        remedy = "stop everything that uses the store, and restore it from a backup"
        return Finding(part="store", health=Health.WRONG, text=damage.what, remedy=remedy)
    return Finding(
        part=f"row {damage.key} of {damage.table}",
        health=Health.WRONG,
        text=f"{damage.what}; it is left out, and everything else goes on",
        remedy="deploy its app again, or restore the store from a backup",
    )


def _tables(checks: TableChecks) -> Finding:
    looked = f"looked at {instant(checks.at)}"
    if not checks.lost:
        return Finding(part="tables", health=Health.OK, text=f"no watermark has passed lost rows, {looked}")
    first = checks.lost[0]
    return Finding(
        part="tables",
        health=Health.WRONG,
        text=f"{len(checks.lost)} watermarks have passed rows that are gone, {looked}; that of {first.where}:"
        f" {first.fact}",
        remedy=f"{first.remedy}; all of them: tidegate commits fsck",
    )


def _folder(folder: WatchedFolder) -> Finding:
    part = f"watched folder of {folder.dataset}"
    if not folder.problem:
        return Finding(part=part, health=Health.OK, text=folder.folder)
    since = "" if folder.problem_since is None else f", since {instant(folder.problem_since)}"
    return Finding(part=part, health=Health.WRONG, text=f"{folder.problem}{since}", remedy=folder.remedy)


def _tick(engine: Engine, now: datetime, every: int) -> Finding:
    ticked = engine.ticked_at
    if ticked is not None and is_ahead(ticked, now):
        return Finding(
            part="engine",
            health=Health.WRONG,
            text=f"last tick at {instant(ticked)}, {_seconds(ticked - now)} in the future",
            remedy="compare the clocks of this machine and of the one that ticks, and synchronize them",
        )
    text = "the scheduler has never ticked" if ticked is None else f"last tick at {instant(ticked)}"
    if not is_late(ticked, now, every):
        return Finding(part="engine", health=Health.OK, text=text)
    remedy = "start `tidegate dev` or `tidegate host`, or Dagster's daemon"
    if engine.writer is not None:
        text += f"; {engine.writer} holds a transaction of the store open"
        remedy = "if that process hangs, end it: what it has not committed is rolled back, and ticks go on"
    return Finding(part="engine", health=Health.WRONG, text=text, remedy=remedy)


def _silent(silent: SilentCron) -> Finding:
    stored = "never" if silent.stored is None else f"at {instant(silent.stored)}"
    return Finding(
        part=f"next fire of {silent.schedule}",
        health=Health.WRONG,
        text=f"the scheduler fires it {stored}, its cron at {instant(silent.due)}",
        remedy="look at the clocks of the machines that tick; a tick at the right time repairs it",
    )


def _versions(engine: Engine) -> Finding:
    """Return the finding on the versions at work: after an upgrade in place, old processes go on."""
    by_version: dict[str, list[str]] = {engine.version: ["this command"]}
    for version, what in engine.versions:
        by_version.setdefault(version, []).append(what)
    texts = [f"{version or 'unknown'}: {', '.join(whats)}" for version, whats in by_version.items()]
    mixed = len(by_version) > 1
    return Finding(
        part="version",
        health=Health.WRONG if mixed else Health.OK,
        text="; ".join(texts),
        remedy="restart what is of another version; `tidegate docs operating` has the order" if mixed else "",
    )


def _seconds(time: timedelta) -> str:
    return f"{abs(time.total_seconds()):,.0f} s"


def _host(host: ActiveHost | None, now: datetime, *, renewed: bool) -> Finding:
    if host is None:
        return Finding(
            part="host",
            health=Health.NOTE,
            text="no host is active: the dispatchers' sensors tick",
            remedy="start `tidegate host` for runs within a fraction of a second",
        )
    where = f"{shown(host.process)}, last loop at {instant(host.looped_at)}"
    if host.holds(now) and host.problem:
        return Finding(
            part="host",
            health=Health.WRONG,
            text=f"active: {where}; launches nothing since {instant(host.problem_since)}: {host.problem}",
            remedy="repair that: launches are tried again for as long as it lasts, and lose nothing",
        )
    if host.holds(now):
        return Finding(part="host", health=Health.OK, text=f"active: {where}, since {instant(host.since)}")
    if renewed:
        side = "ahead of" if host.is_ahead(now) else "behind"
        return Finding(
            part="host",
            health=Health.WRONG,
            text=f"{where}: its clock is {_seconds(host.looped_at - now)} {side} the clock of this machine",
            remedy="synchronize the clocks: fires come early or late, and another host does not decide",
        )
    return Finding(
        part="host",
        health=Health.WRONG,
        text=f"ended without releasing its lease: {where}; the dispatchers' sensors tick",
        remedy="start `tidegate host` again; its log says why it ended",
    )


def dagster_findings(state: "DagsterState | str", now: datetime, *, hosted: bool) -> Iterator[Finding]:
    """Yield a finding for Dagster's database, its daemon, its code servers and the dispatchers.

    Args:
        state: what Dagster says, or why it cannot be read.
        hosted: a host is active.
    """
    if isinstance(state, str):
        yield Finding(
            part="Dagster's database",
            health=Health.WRONG,
            text=state,
            remedy="start its database, or correct `storage:` in dagster.yaml",
        )
        return
    yield _database(state)
    if state.sharded:
        yield Finding(
            part="Dagster's event log",
            health=Health.NOTE,
            text="it has a file for each run, which makes runs slow to create",
            remedy="see `tidegate docs dagster`, Dagster's storage in development",
        )
    yield _daemon(state.heartbeat, now)
    for server in state.servers:
        yield Finding(
            part=f"code location at {server.address}",
            health=Health.WRONG if server.problem else Health.OK,
            text=server.problem or "alive",
            remedy="start the code server, or reload the location; its log says more"
            if server.problem
            else "",
        )
    yield from (_dispatcher(each, hosted=hosted) for each in state.dispatchers)


def _database(state: "DagsterState") -> Finding:
    if not state.outdated:
        return Finding(part="Dagster's database", health=Health.OK, text=f"reached, home {state.home}")
    return Finding(
        part="Dagster's database",
        health=Health.WRONG,
        text=f"its schema is of another version of Dagster: {', '.join(state.outdated)}",
        remedy="stop Dagster and run `dagster instance migrate`",
    )


def is_daemon_alive(heartbeat: datetime | None, now: datetime) -> bool:
    """Return whether the last heartbeat of Dagster's daemon is one of a daemon at work."""
    return heartbeat is not None and now - heartbeat <= HEARTBEAT_WITHIN


def _daemon(heartbeat: datetime | None, now: datetime) -> Finding:
    if heartbeat is not None and is_daemon_alive(heartbeat, now):
        return Finding(part="daemon", health=Health.OK, text=f"alive: heartbeat at {instant(heartbeat)}")
    said = "it has never run" if heartbeat is None else f"last heartbeat at {instant(heartbeat)}"
    return Finding(
        part="daemon",
        health=Health.WRONG,
        text=f"does not run: {said}",
        remedy="start `tidegate dev`, or `dagster-daemon run` with the workspace file",
    )


def _dispatcher(dispatcher: "Dispatcher", *, hosted: bool) -> Finding:
    if not dispatcher.on:
        return Finding(
            part=dispatcher.name,
            health=Health.NOTE,
            text="switched off: nothing of its app is launched",
            remedy="switch the sensor on in Dagster",
        )
    if dispatcher.problem:
        return Finding(
            part=dispatcher.name,
            health=Health.NOTE if hosted else Health.WRONG,
            text=f"failed at {instant(dispatcher.at)}: {dispatcher.problem}",
            remedy="see its last tick in Dagster",
        )
    return Finding(part=dispatcher.name, health=Health.OK, text=f"last evaluated at {instant(dispatcher.at)}")
