"""Commands, and an idle host, beside more and more deployed schedules: processor seconds and megabytes.

Each number of schedules is a project of its own, with a hundred in a file, one of them with a cron. It is
deployed, and one schedule of one file is changed again and again. Of a command the whole process counts, from
its start. A host is measured once it is active; what its code server loads grows with the programs, of which
each app has one.

    lint again     all files, of which one has changed
    plan, deploy   of that change
    apps list …    commands about one app, one schedule, or the project

The aim is an exponent of 0 for what touches one app. `lint` and `plan` look at each file.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.aims import verdict
from benchmarks.curves.growth import exponent_of, print_calibration, print_curve, print_sizes
from benchmarks.idle import cores
from benchmarks.project import SETTINGS
from tidegate.cli.develop.plan import EXIT_CHANGES
from tidegate.processes.dagster import DagsterProcesses
from tidegate.processes.home import DEVELOPMENT, site_of
from tidegate.project.settings.settings import load_settings

SIZES, SHORT_SIZES = (1_000, 10_000, 100_000, 500_000), (1_000, 10_000)
A_FILE = 100
ROUNDS = 3
IDLE_SECONDS, SHORT_IDLE_SECONDS = 30.0, 10.0
ACTIVE_WITHIN_SECONDS = 1_800.0

AIMS = {100_000: {"lint again": 4.0, "plan of a change": 4.0, "deploy of a change": 5.0, "apps list": 0.4}}
"""Seconds, by the number of schedules, on a machine whose loop of `growth` takes 0.16 s."""

SETTINGS_OF_DAGSTER = DEVELOPMENT.replace("max_concurrent_runs: 4", "max_concurrent_runs: 0")

_HEAD = """\
app: app_{n}
datasets: {{raw: {{partitions: {{cycle: day, start: 2013-01-01}}, path: landing/app_{n}}}}}
programs: {{clean: {{run: programs.clean}}}}
schedules:
  s0: {{program: clean, trigger: {{cron: "7 3 4 1 *"}}, status: active}}
"""
_SCHEDULE = """\
  s{m}:
    program: clean
    trigger: {{partitions: {{dataset: raw, count: {m}}}}}
    constraints: [{{concurrency: {{max: 2}}}}]
    status: active
"""
_CHANGED = "  s1:\n"
_COMMAND = """\
import sys
from pathlib import Path
from tidegate.cli.version import main
try:
    main()
finally:
    Path("memory").write_text(Path("/proc/self/status").read_text())
"""
"""The command of the distribution. What `wait4` says of its memory would be that of the one that forks."""


class Command(NamedTuple):
    """What a command took: seconds of the processor, and megabytes at its most."""

    seconds: float
    megabytes: float


class Project:
    """A deployed project with a number of schedules."""

    def __init__(self, folder: Path, size: int) -> None:
        self.folder = folder
        self._changes = 0
        (folder / "schedules").mkdir(parents=True)
        (folder / "tidegate.toml").write_text(SETTINGS)
        (folder / "dagster.yaml").write_text(SETTINGS_OF_DAGSTER)
        (folder / "programs.py").write_text("def clean(spark, inputs, params):\n    return {}\n")
        for number in range(size // A_FILE):
            schedules = (_SCHEDULE.format(m=m) for m in range(1, A_FILE))
            (folder / "schedules" / f"app_{number}.yaml").write_text(
                _HEAD.format(n=number) + "".join(schedules)
            )

    def run(self, *words: str) -> Command:
        """Run a command, and return what it took."""
        command = [sys.executable, "-c", _COMMAND, *words]
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode in (0, 1, EXIT_CHANGES), (words, process.returncode)
        return Command(used.ru_utime + used.ru_stime, _most_megabytes(self.folder / "memory"))

    def change(self) -> None:
        """Change a schedule of the first app."""
        self._changes += 1
        file = self.folder / "schedules" / "app_0.yaml"
        head, _, rest = file.read_text().partition(_CHANGED)
        rest = rest.partition("    program: clean\n")[2]
        described = f"    description: change {self._changes}\n"
        file.write_text(f"{head}{_CHANGED}{described}    program: clean\n{rest}")

    def changed(self, *words: str) -> Command:
        """Change a schedule, and run a command."""
        self.change()
        return self.run(*words)

    def host(self, seconds: float) -> Command:
        """Return the cores that an idle host takes, and its megabytes at the most."""
        with DagsterProcesses(site_of(load_settings(self.folder))) as processes:
            processes.start_code_server()
            host = processes.start_host()
            host.wait_until(lambda: "is active" in host.log.read_text(), ACTIVE_WITHIN_SECONDS)
            return Command(cores([host.pid], seconds), _most_megabytes(Path(f"/proc/{host.pid}/status")))


def main(*, short: bool = False) -> int:
    """Measure and print.

    Returns:
        The number of missed aims.
    """
    sizes, missed = SHORT_SIZES if short else SIZES, 0
    print_calibration()
    with tempfile.TemporaryDirectory() as folder:
        projects = [Project(Path(folder) / f"p{size}", size) for size in sizes]
        print_sizes("schedules", sizes, "s of the CPU, then MB")
        for name, measure in _commands():
            # What is measured first makes its caches and its bytecode.
            rounds = 1 if name.startswith("first") else ROUNDS
            found = [min(measure(each) for _ in range(rounds)) for each in projects]
            missed += _print(name, sizes, found)
        seconds = SHORT_IDLE_SECONDS if short else IDLE_SECONDS
        found = [each.host(seconds) for each in projects]
        print_curve("an idle host, cores", [each.seconds for each in found], _exponent(sizes, found))
        print_curve("an idle host, MB", *_megabytes(sizes, found))
    return missed


def _commands() -> Iterator[tuple[str, Callable[[Project], Command]]]:
    yield "first lint", lambda each: each.run("lint")
    yield "first deploy", lambda each: each.run("deploy", "--yes")
    yield "lint again", lambda each: each.changed("lint")
    yield "plan of a change", lambda each: each.changed("plan")
    yield "deploy of a change", lambda each: each.changed("deploy", "--yes")
    yield "lint of one file", lambda each: each.run("lint", "schedules/app_0.yaml")
    for words in (
        ("apps", "list"),
        ("schedules", "list", "--app", "app_0"),
        ("schedules", "show", "app_0/s1"),
        ("jobs", "list"),
        ("status",),
        ("why", "app_0/s1"),
        ("--version",),
    ):
        yield " ".join(words), lambda each, words=words: each.run(*words)


def _print(name: str, sizes: Sequence[int], found: Sequence[Command]) -> int:
    print_curve(name, [each.seconds for each in found], _exponent(sizes, found))
    print_curve(f"{name}, MB", *_megabytes(sizes, found))
    aims = zip(sizes, found, strict=True)
    return sum(
        verdict(f"{name} of {size:,}", each.seconds, AIMS[size][name], " s")
        for size, each in aims
        if name in AIMS.get(size, ())
    )


def _exponent(sizes: Sequence[int], found: Sequence[Command]) -> float:
    return exponent_of(sizes, [each.seconds for each in found])


def _megabytes(sizes: Sequence[int], found: Sequence[Command]) -> tuple[list[float], float]:
    values = [each.megabytes for each in found]
    return values, exponent_of(sizes, values)


def _most_megabytes(status: Path) -> float:
    lines = status.read_text().splitlines()
    (most,) = (line.split()[1] for line in lines if line.startswith("VmHWM"))
    return int(most) / 1024
