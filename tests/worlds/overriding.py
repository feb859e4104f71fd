"""A world in which people override what was deployed."""

from tests.worlds.world import World, app_of, at
from tidegate.domain.time.expiry import Until
from tidegate.scheduler.commands.by_hand.manual import resume, suspend
from tidegate.scheduler.commands.deployment.schedules import delete_schedules, put_schedule
from tidegate.scheduler.commands.reverts import Part, revert
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.records.override import OVERRIDES, Override

OPS = By(actor="cli:ada", reason="late feed")
REST = By(actor="rest:ops", reason="more memory")
S = "s: {program: q, status: active, trigger: {partitions: {dataset: raw, count: 2}}}"
SLOW = S.replace("active,", "active, timeout: {after: 9h, then: discard},")
FIRST = "s: {program: q, status: active, trigger: {partitions: {dataset: raw}}}"
NEW = "n: {program: q, trigger: {partitions: {dataset: raw}}}"


class Hands(World):
    """A world in which people override."""

    def suspended(self, clock: str, until: str | None = None, by: By = OPS) -> bool:
        with self.store.transaction() as transaction:
            return suspend(transaction, "a/s", at(clock), by, _until(until))

    def resumed(self, clock: str, until: str | None = None, by: By = OPS) -> bool:
        with self.store.transaction() as transaction:
            return resume(transaction, "a/s", at(clock), by, _until(until))

    def put(self, clock: str, schedule: str, until: str | None = None, by: By = REST) -> None:
        (spec,) = app_of(schedule).schedules.values()
        with self.store.transaction() as transaction:
            put_schedule(transaction, "a", spec, at(clock), by, _until(until))

    def delete(self, clock: str, name: str = "s") -> None:
        with self.store.transaction() as transaction:
            delete_schedules(transaction, [f"a/{name}"], at(clock), by=REST)

    def revert(self, clock: str, name: str = "s", only: Part | None = None) -> None:
        with self.store.transaction() as transaction:
            revert(transaction, f"a/{name}", at(clock), OPS, only)

    def overrides(self) -> tuple[Override, ...]:
        with self.store.reading() as reader:
            return reader.records(OVERRIDES)

    def kinds(self) -> list[str]:
        return [each.kind for each in self.overrides()]

    def state(self, name: str = "s") -> ScheduleState:
        with self.store.reading() as reader:
            (found,) = reader.schedules(refs=[f"a/{name}"])
        return found

    def exists(self, name: str) -> bool:
        with self.store.reading() as reader:
            return bool(reader.schedules(refs=[f"a/{name}"]))

    def entries(self) -> list[Entry]:
        return [each for each in self.journal() if each.kind is EntryKind.OVERRIDE]

    def said(self) -> list[tuple[str, str]]:
        return [(each.data["action"], each.data.get("cause", "")) for each in self.entries()]


def _until(clock: str | None) -> Until | None:
    return None if clock is None else Until(at=None if clock == "never" else at(clock))
