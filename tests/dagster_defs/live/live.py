"""A project with Dagster running on it for real: code server, daemon, webserver, SQLite, Spark."""

import json
import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from tests.dagster_defs.instance import ORIGINS
from tests.dagster_defs.live.project import INTERPRETED, LiveProject
from tests.dagster_defs.sample import deploy, sample_app
from tidegate.domain.model import App
from tidegate.processes.graphql import ask
from tidegate.scheduler.model.job import FINISHED, Job

PROGRAMS = '''
"""Programs that need next to nothing."""

import os
import signal
import time
from pathlib import Path

from tidegate.spark_jobs.commit import publish


def clean(spark, inputs, params):
    """One row for each partition, two for the last."""
    rows = [(key, number) for number, key in enumerate(params.partitions)]
    return spark.createDataFrame([*rows, (params.partitions[-1], 99)], "day string, number int")


def report(spark, inputs, params):
    """One row; its process is killed at the moment at which all is promised, if a file says so."""
    if Path("kill-after-put").exists():
        publish.finish = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    return spark.createDataFrame([(1,)], "number int")


def notify(spark, inputs, params):
    """Nothing at all, or for far too long; its process can be killed by the number that it leaves."""
    if Path("too-long").exists():
        Path(f"process-{params.job}").write_text(str(os.getpid()))
        time.sleep(600)
    return {}
'''


def live_app() -> App:
    """The sample app with programs that exist, and its pooled schedule switched on."""
    app = sample_app()
    programs = {
        name: msgspec.structs.replace(program, run=f"live_programs.{name}")
        for name, program in app.programs.items()
    }
    return msgspec.structs.replace(app, programs=programs)


class Live(LiveProject):
    """Dagster on a project in a temporary folder."""

    pause_seconds = 0.2
    mode = "warm"
    at_once = 1

    def __init__(self, folder: Path, conf: str = "") -> None:
        """Args:
        conf: further lines of `[spark.conf]`.
        """
        (folder / "schedules").mkdir()
        (folder / "tidegate.toml").write_text(
            f'[spark]\nmaster = "local[1]"\n[spark.conf]\n{INTERPRETED}{conf}'
            '[warehouse]\ndefault_format = "parquet"\n'
        )
        (folder / "live_programs.py").write_text(PROGRAMS)
        super().__init__(folder)
        self.deploy(live_app())

    def deploy(self, app: App, revision: int = 1) -> None:
        """Deploy the app of this project."""
        now = datetime.now(UTC)
        deploy(self.store, app, at=now, revision=revision, project=self.settings.name)

    def start(self, beside: Callable[["Live"], None] = lambda _: None) -> None:
        """Start the processes.

        Args:
            beside: called before the daemon starts, to add to its workspace.
        """
        self.processes.__enter__()
        beside(self)
        self.code_server = self.processes.start_code_server()
        self.daemon = self.processes.start_daemon()
        self.processes.start_webserver()
        self.open_instance()

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        """One question to GraphQL, of which the only field is returned."""
        (answer,) = ask(self.site.url, query, variables).values()
        return answer

    def report(self, dataset: str, partition: str, **metadata: Any) -> None:
        """Report a partition through the REST API, as a system outside would."""
        body = json.dumps({"partition": partition, "metadata": metadata}).encode()
        address = f"{self.site.url}/report_asset_materialization/flights/{dataset}"
        request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
        urllib.request.urlopen(request).close()

    def land_day(self, day: str) -> None:
        """Land and report all parts of a day of the raw data, as a feed outside would."""
        for origin in ORIGINS:
            part = self.folder / "landing" / "raw" / f"day={day}" / f"origin={origin}"
            part.mkdir(parents=True)
            pq.write_table(pa.table({"number": [1]}), part / "rows.parquet")
            self.report("raw", f"{day}|{origin}", rows=1)

    def jobs(self, schedule: str, app: str = "flights") -> list[Job]:
        with self.store.reading() as reader:
            return list(reader.jobs(schedules=[f"{app}/{schedule}"]))

    def ended_job(self, schedule: str, app: str = "flights") -> Job:
        """The first job of a schedule, once it has ended."""

        def look() -> Job | None:
            return next((job for job in self.jobs(schedule, app) if job.state in FINISHED), None)

        found = self.until(f"a job of {schedule}", look)
        assert found is not None
        return found
