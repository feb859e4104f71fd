"""An app whose parts are renamed, and the store that it is deployed to: where the tests of renames begin."""

from tests.worlds.by import CLI
from tests.worlds.world import app_of, at
from tidegate.domain.model import App
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.live import difference
from tidegate.scheduler.model.event import Event, EventKind
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.scheduler.tick.tick import tick

HEAD = """app: {app}
{app_from}
datasets:
  {raw}: {{partitions: {{cycle: day, start: 2013-01-01}}, format: iceberg{raw_from}}}
  {out}: {{partitions: {{cycle: day, start: 2013-01-01}}, format: iceberg, write: append{out_from}}}
programs:
  {load}: {{run: programs.load, reads: [{{dataset: {raw}, incremental: true}}], writes: [{out}]{load_from}}}
schedules:
"""

WAITS = """daily:
  program: {load}
  trigger: {{all: [{{partitions: {{dataset: {raw}, count: 3}}}}, {{cron: "0 6 * * *"}}]}}
  args: {{days: "{{{{ trigger.partitions.{raw} }}}}"}}
  status: active
"""
NAMES = {"app": "a", "raw": "raw", "out": "out", "load": "load"}
DAYS = ("2026-03-01", "2026-03-02")
EVERYTHING = {
    "app": "b",
    "app_from": "a",
    "load": "l",
    "load_from": "load",
    "raw": "landed",
    "raw_from": "raw",
    "out": "o",
    "out_from": "out",
}
"""New names for all parts at once."""


def app(**changed: str) -> App:
    """The app, with some names changed; `raw_from="x"` writes `renamed_from: x`."""
    names = {**NAMES, **{key: name for key, name in changed.items() if not key.endswith("_from")}}
    former = {
        f"{key}_from": f", renamed_from: {changed[f'{key}_from']}" if f"{key}_from" in changed else ""
        for key in ("raw", "out", "load")
    }
    of_app = f"renamed_from: {changed['app_from']}" if "app_from" in changed else ""
    return app_of(WAITS.format(**names), HEAD.format(**names, **former, app_from=of_app))


def put(store: Store, clock: str, *apps: App, force: bool = False):
    with store.transaction() as transaction:
        return deploy(transaction, {each.name: each for each in apps}, at(clock), force=force, by=CLI)


def planned(store: Store, *apps: App):
    with store.reading() as reader:
        return difference(reader, {each.name: each for each in apps})


def arrive(store: Store, clock: str, *days: str, dataset: str = "a/raw") -> None:
    events = [
        Event(
            id=f"e:{day}",
            kind=EventKind.PARTITION,
            key=f"partition:{dataset}",
            time=at(clock),
            arrived=at(clock),
            partition=day,
        )
        for day in days
    ]
    with store.transaction() as transaction:
        transaction.add_events(events)
    tick(store, at(clock))


def waiting(store: Store) -> list[tuple[str, list[str]]]:
    """The schedule and the events of each waiting job."""
    with store.reading() as reader:
        jobs = [job for job in reader.jobs() if job.waiting]
        found = reader.deliveries([job.id for job in jobs])
    return [(job.schedule, [f"{e.event.key} {e.event.partition}" for e in found[job.id]]) for job in jobs]


def read_once(sql: SqlStore, consumer: str = "a/load", source: str = "a/raw") -> SqlCommitStepStore:
    """A commit that has read two days and is finished."""
    commits = SqlCommitStepStore(sql.engine)
    names = ("a/out", f"{consumer} <- {source}")
    moves = [(consumer, source, day, 1) for day in DAYS]
    token = commits.begin("c1", names, until=at("09:00"))
    assert commits.put("c1", names, token, "{}", moves) == "stored"
    for move in moves:
        assert commits.set_watermark(move, '["x"]', "c1")
    commits.remove("c1", '[{"dataset":"out","key":"2026-03-01","rows":1,"bytes":1,"files":1}]')
    return commits
