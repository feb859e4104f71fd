"""Notes: what the world of maintenance knows of itself, and the oracle cannot read from the store."""

from collections.abc import Sequence
from datetime import UTC, datetime

from tests.simulation.maintenance.app import configures, matched
from tidegate.domain.model import App, Operation
from tidegate.scheduler.model.maintenance import OperationRun

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


class Notes:
    """When apps were deployed, and tables went.

    Attributes:
        origin: the first poll.
        filters: the partitions that each run leaves out, by job, as its launch says.
        late: the jobs whose run has reported after its timeout.
    """

    def __init__(self, origin: datetime, app: App) -> None:
        self.origin = origin
        self.deployed: list[tuple[datetime, App]] = [(origin, app)]
        self.gone: dict[str, datetime] = {}
        self.back: dict[str, datetime] = {}
        self.filters: dict[str, Sequence[str]] = {}
        self.late: set[str] = set()

    @property
    def app(self) -> App:
        return self.deployed[-1][1]

    def apps_at(self, instant: datetime) -> list[App]:
        """The apps that were deployed at an instant: several, where one was deployed at this very instant."""
        before = [app for at, app in self.deployed if at < instant][-1:]
        return [*before, *(app for at, app in self.deployed if at == instant)]

    def apps_between(self, first: datetime, until: datetime) -> list[App]:
        """The apps that were deployed at some time between two instants."""
        before = [app for at, app in self.deployed if at <= first][-1:]
        return [*before, *(app for at, app in self.deployed if first <= at < until)]

    def counted(self, runs: Sequence[OperationRun], table: str) -> list[OperationRun]:
        """The runs on a table that have ended, without those from before it was gone."""
        since = self.gone.get(table, LONG_AGO)
        found = [run for run in runs if run.table == table and run.ending is not None]
        return [run for run in found if run.started_at >= since]

    def seen(self, policy: str, table: str, now: datetime) -> datetime:
        """The first poll at which a policy that is there now has matched a table."""
        since = self.back.get(table, self.origin)
        broken = True
        for at, app in self.deployed:
            there = matched(app, policy, table) is not None
            there = there and any(configures(app, policy, operation) for operation in Operation)
            if there and broken and at <= now:
                since = max(since, at)
            broken = not there
        app = self.apps_at(since)[-1]
        assert app.maintenance is not None
        late = (since - self.origin) % app.maintenance.poll
        return since + (app.maintenance.poll - late if late else late)

    def begun(self, key: tuple[str, Operation, str], now: datetime) -> datetime:
        """Since when the operation of a policy has been there for a table, without a break."""
        policy, operation, table = key
        since = self.gone.get(table, LONG_AGO)
        for at, app in self.deployed:
            there = matched(app, policy, table) is not None and configures(app, policy, operation)
            if not there and at <= now:
                since = max(since, at)
        return since
