"""A second project beside the one on which Dagster runs: the same store, warehouse and Dagster, its own code.

store     flights (project `live…`)    sales (project `neighbour`)
Dagster   location "tidegate"          location "neighbour"           one daemon, one webserver
"""

from dataclasses import replace
from datetime import UTC, datetime

from tests.dagster_defs.live.live import Live
from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.compiler.plan.ownership import Scope
from tidegate.processes.code_servers import HOST
from tidegate.processes.dagster import DagsterProcesses
from tidegate.processes.home import site_of
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.deployed_rows import deployed_apps

NAME = "neighbour"

YAML = """
app: sales
datasets: {revenue: {partitions: {cycle: day, start: 2023-01-01}}}
programs: {revenue: {run: neighbour_programs.revenue, reads: [flights/clean], writes: [revenue]}}
schedules:
  daily: {program: revenue, for_each: day, trigger: {partitions: {dataset: flights/clean}}, status: active}
"""

PROGRAMS = '''
def revenue(spark, inputs, params):
    """The number of rows that the other project has published for the day."""
    return inputs["flights/clean"].groupBy("day").count()
'''


class Neighbour:
    """The second project, deployed, with a code server that the first one's daemon knows."""

    def __init__(self, live: Live) -> None:
        folder = live.folder / NAME
        folder.mkdir()
        (folder / "tidegate.toml").write_text(
            f'[project]\nname = "{NAME}"\n[store]\nurl = "{live.settings.store_url}"\n'
            f'[warehouse]\npath = "{live.settings.warehouse}"\ndefault_format = "parquet"\n'
            f'[spark]\nmaster = "local[1]"\n[dagster]\nhome = "{live.settings.dagster_home}"\n'
        )
        (folder / "neighbour_programs.py").write_text(PROGRAMS)
        settings = load_settings(folder)
        with live.store.reading() as reader:
            known = deployed_apps(reader)
        compiled = compile_files({"sales.yaml": YAML.encode()}, known=lambda: known)
        assert compiled.ok, compiled.diagnostics
        with live.store.transaction() as transaction:
            deploy(
                transaction, compiled.models(), datetime.now(UTC), scope=Scope(project=settings.name), by=CLI
            )
        self.site = replace(site_of(settings), logs=folder)
        self.processes = DagsterProcesses(self.site)

    def start(self, live: Live) -> None:
        """Start the code server, and write it into the workspace of the daemon."""
        with live.site.workspace.open("a") as file:
            file.write(
                f"  - grpc_server:\n      host: {HOST}\n      port: {self.site.code_port}\n"
                f"      location_name: {NAME}\n"
            )
        self.processes.start_code_server()
