"""An app of cycle tasks in the live project, with a host.

Its zone is one in which it is about noon, so that its day does not end during a test. A day's orders are
cleaned, and the revenue of the day is added to the sum of the day before (`self`).
"""

from datetime import UTC, date, datetime, timedelta, timezone

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import tidegate.read
from tests.dagster_defs.live.project import LiveApp, LiveProject
from tests.worlds.by import CLI
from tidegate.scheduler.commands.backfills.request import Wanted
from tidegate.scheduler.commands.backfills.start import start_backfill
from tidegate.scheduler.commands.tasks.instances import InstanceName, act
from tidegate.scheduler.commands.tasks.reports import Times, report
from tidegate.scheduler.decision.instances.actions import Action, status_of
from tidegate.scheduler.model.instance import Status
from tidegate.scheduler.model.job import Job

NOON = 12

YAML = """
app: night
timezone: ZONE
datasets:
  orders: {partitions: {cycle: day, start: START}, format: parquet, path: landing/orders}
  clean: {partitions: {cycle: day, start: START}}
  revenue: {partitions: {cycle: day, start: START}}
programs:
  clean: {run: night_programs.clean, reads: [orders], writes: [clean]}
  revenue: {run: night_programs.revenue, reads: [clean, revenue], writes: [revenue]}
tasks:
  orders_feed: {type: source, dataset: orders, cycle: day, update: outside, status: active}
  clean: {program: clean, cycle: day, at: {time: "TIME"}, depends_on: [orders_feed], status: active}
  revenue:
    program: revenue
    cycle: day
    at: {time: "TIME"}
    depends_on: [clean, self]
    constraints: [{concurrency: {max: 1}}]
    status: active
"""

PROGRAMS = '''
"""What a small shop computes at night."""

import os
import time
from pathlib import Path


def clean(spark, inputs, params):
    """The orders that were not cancelled; fails, or waits for too long, if a file says so."""
    (day,) = params.partitions
    assert params.business_date == day and params.manifest == {"orders": (day,)}
    if Path(f"broken-{day}").exists():
        raise ValueError(f"the orders of {day} are broken")
    if Path(f"slow-{day}").exists():
        Path("working").write_text(str(os.getpid()))
        time.sleep(600)
    orders = inputs["orders"]
    return orders.where(orders.quantity > 0).selectExpr("day", "item", "quantity * price AS amount")


def revenue(spark, inputs, params):
    """The revenue of the day, and the sum of all days up to it."""
    (day,) = params.partitions
    rows = inputs["clean"].collect()
    before = [] if inputs["revenue"] is None else inputs["revenue"].where(f"day < '{day}'").collect()
    amount = sum(row["amount"] for row in rows)
    total = amount + sum(row["total"] for row in before)
    columns = "day string, orders int, amount int, total int"
    return spark.createDataFrame([(day, len(rows), amount, total)], columns)
'''


class Night(LiveApp):
    """The app, deployed before the processes start.

    Attributes:
        today: the scheduled time of the instances of the running day.
        yesterday: its business date.
    """

    def __init__(self, project: LiveProject) -> None:
        super().__init__(project)
        (self.folder / "night_programs.py").write_text(PROGRAMS)
        now = datetime.now(UTC)
        ahead = NOON - now.hour
        self._zone = timezone(timedelta(hours=ahead))
        here = now.astimezone(self._zone)
        self.today = str(here.date())
        self.yesterday = self.day_before(self.today)
        # Etc/GMT-5 is five hours ahead of UTC.
        zone = f"Etc/GMT{-ahead:+d}" if ahead else "Etc/GMT"
        start = str(here.date() - timedelta(days=9))
        self._text = YAML.replace("ZONE", zone).replace("START", start)
        project.deploy_beside("night.yaml", self._text.replace("TIME", "23:59"))

    @staticmethod
    def day_before(day: str) -> str:
        return str(date.fromisoformat(day) - timedelta(days=1))

    # --- what people do ---

    def start(self) -> None:
        """Let the day's instances begin in a minute: the feed is reported before."""
        here = datetime.now(UTC).astimezone(self._zone)
        start = (here + timedelta(minutes=1)).strftime("%H:%M")
        self.project.deploy_beside("night.yaml", self._text.replace("TIME", start))
        self.project.processes.start_host()

    def land(self, day: str, *orders: tuple[str, int, int]) -> None:
        """Land a further file with orders of a day."""
        folder = self.folder / "landing" / "orders" / f"day={day}"
        folder.mkdir(parents=True, exist_ok=True)
        items, quantities, prices = zip(*orders, strict=True)
        table = pa.table({"item": items, "quantity": quantities, "price": prices})
        pq.write_table(table, folder / f"orders-{len(list(folder.iterdir()))}.parquet")

    def report(self) -> None:
        """The feed says that the orders of yesterday are there."""
        with self.store.transaction() as transaction:
            times = Times(scheduled=(self.today,))
            report(transaction, "night/orders_feed", times, "successful", datetime.now(UTC), CLI)

    def act(self, task: str, action: Action, *, downstream: bool = False) -> None:
        name, now = InstanceName(scheduled=self.today), datetime.now(UTC)
        with self.store.transaction() as transaction:
            act(transaction, f"night/{task}", name, action, now, CLI, downstream=downstream)

    def backfill(self, first: str, last: str) -> None:
        wanted = Wanted(app="night", from_=first, to=last, lot=2)
        with self.store.transaction() as transaction:
            start_backfill(transaction, wanted, datetime.now(UTC), CLI)

    # --- what can be seen ---

    def job(self, task: str, scheduled: str = "", number: int = 0) -> Job:
        """The instance of a task; without a time, that of the running day."""
        with self.store.reading() as reader:
            jobs = reader.jobs(schedules=[f"night/{task}"])
        wanted = (scheduled or self.today, number)
        (job,) = [j for j in jobs if j.instance is not None and (j.key, j.instance.number) == wanted]
        return job

    def status(self, task: str) -> Status:
        return status_of(self.job(task))

    def until_status(self, status: Status, *tasks: str) -> None:
        """Wait until the instances of the running day have a status; a failure ends the wait."""

        def reached() -> bool:
            jobs = [self.job(task) for task in tasks]
            if status is not Status.FAILED:
                assert all(status_of(job) is not Status.FAILED for job in jobs), [job.detail for job in jobs]
            return all(status_of(job) is status for job in jobs)

        self.until(f"{status} of {', '.join(tasks)}", reached)

    def table(self, name: str) -> pd.DataFrame:
        """A published table, as any reader finds it; empty before the first publish."""
        folder = self.folder / "warehouse" / "night" / name
        if not folder.exists():
            return pd.DataFrame()
        frame = tidegate.read.pyarrow(str(folder)).to_table().to_pandas()
        return frame.sort_values(list(frame.columns)).reset_index(drop=True)

    # --- what pandas makes of the same files ---

    def expected(self, first: str, last: str) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The clean orders and the revenue of some days."""
        days = sorted((self.folder / "landing" / "orders").iterdir())
        frames = [
            pq.ParquetFile(file).read().to_pandas().assign(day=folder.name.removeprefix("day="))
            for folder in days
            for file in folder.iterdir()
        ]
        orders = pd.concat(frames)
        orders = orders[(orders.day >= first) & (orders.day <= last) & (orders.quantity > 0)]
        clean = orders.assign(amount=orders.quantity * orders.price)[["day", "item", "amount"]]
        revenue = clean.groupby("day").agg(orders=("item", "size"), amount=("amount", "sum")).reset_index()
        revenue["total"] = revenue.amount.cumsum()
        return clean.sort_values(list(clean.columns)).reset_index(drop=True), revenue
