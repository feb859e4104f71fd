"""What all tests share: a temporary project, how much Hypothesis tries, and the tally at the end.

Spark sessions, Dagster instances and the PostgreSQL server are costly to start. They live
as long as a worker does, and the workers take whole files (`--dist loadfile`), so that what a
file has built for its tests is built once.
"""

import gc
import os
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from tests import databases, leftovers, tally, tiers
from tests.databases import own_postgres_server as own_postgres_server
from tests.databases import postgres_server as postgres_server
from tests.databases import postgres_url as postgres_url
from tests.databases import really_migrated as really_migrated
from tests.databases import sql_url as sql_url
from tests.effort import much
from tidegate.demo.class_archive import archive_file, java_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

settings.register_profile(
    "default", deadline=None, max_examples=much(50), suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("default")

TALLY = pytest.StashKey[Counter[str]]()
LEFT = pytest.StashKey[list[str]]()
BEGUN: list[str] = []
"""The first test of this worker, once it has begun."""

LONG_SERVICE = "-XX:ReservedCodeCacheSize=256m"
"""A JVM of tests works for many minutes: with its usual 48 MB for compiled code it discards methods and
compiles them again all the time, which took a sixth of its processor time."""

QUICK_PYTHON = Path(__file__).parent / "quick_python"
"""Where every Python that a test starts finds how to load with less work."""

MEMORY = Path("/dev/shm")
"""Files in memory, on Linux. Thousands of tests write databases, and would wait for the disk a third of their
time."""

MEMORY_BYTES_MIN = 8 << 30
"""A run of all tests has about a sixth of that at once."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not load files without fast tests where only those are wanted."""
    return tiers.is_left_out(collection_path, config.getoption("markexpr")) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is fast, leave out what is not wanted, and begin with the files that take longest."""
    if out := tiers.take_out(items, config.getoption("markexpr")):
        config.hook.pytest_deselected(items=out)
    tiers.arrange(items)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exempt what is loaded from garbage collection: thousands of tests, and the libraries under them.

    A collection then looks at what a test has made, and a forked process does not copy the rest. While the
    tests are loaded there is none, since each would look at everything again.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        # Tests make many small values that live briefly: rare collections save a twentieth of the time.
        gc.set_threshold(50_000, 20, 20)
        gc.enable()


@pytest.hookimpl(optionalhook=True)  # unknown in a run without xdist
def pytest_xdist_auto_num_workers() -> int:
    """`-n auto`: three workers for two cores, since many tests wait for processes that they have started."""
    return (os.cpu_count() or 1) * 3 // 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Workers take whole files, and one of them those with Spark."""
    from tests.workers import Scheduling  # known to xdist only

    return Scheduling(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_configure(config: pytest.Config) -> None:
    """Make room for what the workers pass on, and prepare the environment of every process of this run.

    Its JVMs live for seconds or minutes: started for that, they need a third of the processor time.
    """
    # The other marks are in pyproject.toml; this one comes with its rule.
    config.addinivalue_line("markers", tiers.ICEBERG_MARK)
    config.stash[TALLY] = Counter()
    config.stash[LEFT] = []
    databases.open_quickly()
    # PySpark forks to start its JVM. Where a thread waits for a code server at that moment, gRPC's handlers
    # of forks end the child ("Check failed: channel_ != nullptr"), and no test with Spark begins there.
    os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
    # Workers have the width of a terminal, into which lists would be folded.
    os.environ.pop("COLUMNS", None)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # Started in the background of a script. Dagster's processes would inherit that, and end on no signal.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Nor would what tests start end with a terminal, where these tests were started with `nohup`.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if not hasattr(config, "workerinput"):
        if "TMPDIR" not in os.environ and _has_room(MEMORY):
            os.environ["TMPDIR"] = str(MEMORY)
            tempfile.tempdir = None  # is looked for again
        leftovers.begin()
        os.environ["JDK_JAVA_OPTIONS"] = f"{java_options(archive_file())} {LONG_SERVICE}"
        known = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = os.pathsep.join([str(QUICK_PYTHON), *([known] if known else [])])


@pytest.hookimpl(optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> bool | None:
    """One thread watches all tests."""
    from tests.workers import LIMITS

    if settings.method != "thread":
        return None
    LIMITS.begin(item, settings)
    return True


def pytest_runtest_logstart(nodeid: str) -> None:
    """A worker begins with its first file."""
    if os.environ.get("PYTEST_XDIST_WORKER") and not BEGUN:
        from tests.workers import give_way

        BEGUN.append(nodeid)
        give_way(nodeid.split("::", 1)[0])


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker passes its tally on; without workers it is the only one.

    When all workers have ended, no process that one of them started may live.
    """
    handed_over = getattr(session.config, "workeroutput", None)
    if handed_over is None:
        session.config.stash[TALLY].update(tally.REACHED)
    else:
        handed_over["tally"] = dict(tally.REACHED)
    if is_whole(session.config) and tally.missing_parts(session.config.stash[TALLY]):
        _fail(session)
    if session.config.getoption("numprocesses", default=None):
        session.config.stash[LEFT] = left = leftovers.end()
        if left:
            _fail(session)


def _has_room(folder: Path) -> bool:
    return os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > MEMORY_BYTES_MIN


def is_whole(config: pytest.Config) -> bool:
    """Whether this process sums up a run of all tests, as that of `make test`."""
    chosen = config.getoption("markexpr") or config.getoption("keyword") or config.getoption("collectonly")
    return (
        config.args_source is config.ArgsSource.TESTPATHS
        and not chosen
        and not hasattr(config, "workerinput")
    )


def _fail(session: pytest.Session) -> None:
    if session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """A worker has ended; one that died has handed nothing over."""
    node.config.stash[TALLY].update(getattr(node, "workeroutput", {}).get("tally", {}))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print what the proof has reached, and the processes that outlived their test."""
    for process in config.stash[LEFT]:
        terminalreporter.write_line(f"error: a test has left a process behind: {process}", red=True)
    reached = config.stash[TALLY]
    if reached:
        terminalreporter.section("reached in this run")
        for line in tally.lines(reached):
            terminalreporter.write_line(line)
    if is_whole(config):
        terminalreporter.write_line(tally.closing_line(reached), red=bool(tally.missing_parts(reached)))


@pytest.fixture(autouse=True)
def _own_settings() -> Iterator[None]:
    """Undo what a test leaves in the variables of the project.

    `--project` and `--env` put them into the environment of the process, and here that of all later tests.
    """
    before = {name: value for name, value in os.environ.items() if name.startswith("TIDEGATE_")}
    yield
    for name in [name for name in os.environ if name.startswith("TIDEGATE_")]:
        if name not in before:
            del os.environ[name]
    os.environ.update(before)


@pytest.fixture
def project_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project in a temporary folder, which is also the working folder.

    Nothing of the environment reaches it: neither another project nor another store.
    """
    monkeypatch.delenv("TIDEGATE_PROJECT", raising=False)
    monkeypatch.delenv("TIDEGATE_STORE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tidegate.toml").write_text('[warehouse]\ndefault_format = "parquet"\n')
    (tmp_path / "schedules").mkdir()
    return tmp_path


@pytest.fixture(scope="session")
def iceberg_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the Iceberg catalog that all tests of a worker share; each uses an app of its own."""
    return tmp_path_factory.mktemp("iceberg house")


@pytest.fixture(scope="session")
def spark(iceberg_warehouse: Path) -> "SparkSession":
    """One Spark session for all Spark tests of a worker process.

    It interprets its queries and writes no checksum files: for a few rows, compiling a query and starting two
    processes for each file (Hadoop's `chmod`) cost more than the query. Runs of the demo and of the other
    tests with a daemon have Spark as it is. TESTS_MASTER names a cluster (tests/spark_jobs/cluster).
    """
    from tests.java_names import ask_each_once
    from tests.spark_jobs.cluster.standalone import SMALL
    from tidegate.spark_jobs.iceberg.catalog.runtime import IcebergSettings
    from tidegate.spark_jobs.java.jvm import java_classes
    from tidegate.spark_jobs.session.session import SparkSettings, session

    ask_each_once()
    started = session(
        SparkSettings(
            master=os.environ.get("TESTS_MASTER", "local[1]"),
            conf={**SMALL, "spark.driver.memory": "1g"},
            iceberg=IcebergSettings(warehouse=str(iceberg_warehouse)),
        )
    )
    context: Any = started.sparkContext
    files = java_classes(started).org.apache.hadoop.fs.FileSystem.getLocal(context._jsc.hadoopConfiguration())
    files.setWriteChecksum(False)
    tally.take_part("Spark")
    if tiers.has_iceberg():
        # Of a cluster the jar is Spark's own, not one of the class path.
        loader = java_classes(started).java.lang.Thread.currentThread().getContextClassLoader()
        loader.loadClass("org.apache.iceberg.spark.SparkCatalog")
        tally.take_part("Iceberg")
    return started
