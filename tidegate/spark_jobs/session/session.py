"""One Spark session per process, shared by every program that runs in it.

A session takes seconds to start and keeps a JVM, so it is started once and never stopped by a run. It
belongs to the process that started it: a forked child would use its parent's JVM over a shared socket, so
the child drops the inherited objects and starts a session of its own. A session whose JVM has ended is
dropped too. Settings come from the caller as `SparkSettings`; the table layout and the reference results
depend on the fixed settings below.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate.domain.spark_conf import FIXED, MASTER, Cluster, is_one_process
from tidegate.spark_jobs.errors import OutputError, SparkJobError, needs_spark
from tidegate.spark_jobs.files.scheme import scheme_of
from tidegate.spark_jobs.iceberg.catalog.runtime import IcebergSettings, iceberg_conf
from tidegate.spark_jobs.java import jvm
from tidegate.spark_jobs.java.jvm import send_without_delay, starting
from tidegate.spark_jobs.session import executor_wait
from tidegate.spark_jobs.session.executors import check_executors
from tidegate.spark_jobs.session.java import java_home
from tidegate.spark_jobs.session.masters import require_answer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")

JAVA_OPTIONS = f"-Dlog4j2.configurationFile=file:{LOG_SETTINGS}" + (
    # Hadoop's local file system starts a `chmod` for each file that it creates. Java's way to start a process
    # before version 13 has no helper process in between: a write of eight files takes a tenth less.
    " -Djdk.lang.Process.launchMechanism=VFORK" if sys.platform == "linux" else ""
)
"""The driver's options, which are read when its JVM starts, so Spark's own start-up lines are silent too."""

NO_PROPERTIES: Mapping[str, str] = {}
LOOPBACK = "127.0.0.1"
UI = "spark.ui.enabled"

DEFAULTS: Mapping[str, str] = {
    UI: "false",
    "spark.ui.showConsoleProgress": "false",
    # Most daily tables are small: 200 shuffle partitions would be 200 almost empty tasks.
    "spark.sql.shuffle.partitions": "4",
    # The default, INT96, is refused by Iceberg's add_files and by other readers.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
"""Defaults that a project may change in its settings."""

PYTHON_FILES = "spark.submit.pyFiles"
"""Modules for Python on the executors. A session that has more of them than a program needs serves it too."""

JVM_ENDS_SECONDS = 30
"""How long to wait for a JVM that was asked to end, before it is killed."""

_lock = threading.Lock()
sessions: "dict[int, SparkSession]" = {}
"""The session of this process, by the process that started it."""

started_hooks: "list[Callable[[SparkSession], None]]" = []
"""What looks at each session of this process that is the first one of its Spark."""

_wanted: dict[str, str] = {}
_applied: dict[str, str] = {}
_started: dict[str, str] = {}
"""The properties of the program that runs in this process, those that its session has, and those of the
program that Spark was started for, which every session of it has at first."""


_variables: dict[str, str] = {}
"""The variables of this process that a session has set for its JVM."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SparkSettings:
    """The settings of a Spark session.

    Attributes:
        master: a Spark master URL, for example "local[*]" or "spark://host:7077".
        conf: Spark properties, for example {"spark.driver.memory": "2g"}.
        app_name: shown in Spark's own logs and UI.
        iceberg: settings of Iceberg and its catalog; None for a session without Iceberg.
        clusters: what programs may name in place of this master.
        history_url: address of Spark's history server, without a slash at its end; "" if it is not set.
        project: the folder whose packages executors get; None: they get none.
    """

    master: str = "local[*]"
    conf: Mapping[str, str] = field(default_factory=dict[str, str])
    app_name: str = "tidegate"
    iceberg: IcebergSettings | None = None
    clusters: Mapping[str, Cluster] = field(default_factory=dict[str, Cluster])
    history_url: str = ""
    project: Path | None = None

    def cluster(self, name: str) -> Cluster:
        """Return a cluster; this master where `name` is "", or no cluster of this environment."""
        return self.clusters.get(name, Cluster())

    def history_of(self, name: str) -> str:
        """Return the address of the history server of a cluster; "" if there is none."""
        return self.cluster(name).history_url or self.history_url


@contextmanager
def program_conf(conf: Mapping[str, str]) -> Generator[None]:
    """Let sessions of this process have the properties of a program while a block runs.

    A run is a process of its own, whose session starts inside the block, so all properties apply. In a
    process that runs several programs, properties that Spark can change are changed in a further session of
    the same Spark; for others, such as memory or jars, Spark is ended and started again.
    """
    before = dict(_wanted)
    _replace(_wanted, conf)
    try:
        yield
    finally:
        _replace(_wanted, before)


def session(settings: SparkSettings) -> "SparkSession":
    """Return the session of this process; the first caller's settings apply, and those of `program_conf`.

    Raises:
        SparkMissing: Spark is not installed.
        JavaNotFound: a Java that Spark runs on was not found.
        OutputError: the warehouse is a folder, and Spark's default file system is not local.
        ClusterRefused: the master does not answer, gives no executor, or one of another Spark or Python.
    """
    with _lock:
        known = sessions.get(os.getpid())
        if jvm.has_ended():
            # Killed, or out of memory, perhaps before there was a session: none of its objects works again.
            jvm.note_end()
            forget_jvm()
            known = None
        # A stopped context has no `_jsc`; PySpark has no public API for that.
        if known is not None and known.sparkContext._jsc is not None:
            changed = {name for name, _ in _wanted.items() ^ _applied.items()}
            if _python_files(_wanted) <= _python_files(_applied):
                changed.discard(PYTHON_FILES)
            if not changed:
                return known
            if all(known.conf.isModifiable(name) for name in changed):
                files = {name: file for name, file in _applied.items() if name == PYTHON_FILES}
                return _kept(_changed(known, settings, changed), files)
            _end(known)
        if sessions and known is None:
            forget_jvm()
        started = _kept(_start(settings))
        _replace(_started, _wanted)
        for look in started_hooks:
            look(started)
        return started


def _python_files(conf: Mapping[str, str]) -> set[str]:
    return {file for file in conf.get(PYTHON_FILES, "").split(",") if file}


def active_session() -> "SparkSession | None":
    """Return the active session of this process, also one of a user; None where its JVM has ended."""
    from pyspark.sql import SparkSession

    _forget_ended()
    return SparkSession.getActiveSession()


def is_lost(kept: "SparkSession") -> bool:
    """Return whether the JVM of a session has ended."""
    from pyspark import SparkContext

    _forget_ended()
    # Of a session that a resource keeps, only this says to which JVM it belongs.
    return kept._jvm is not SparkContext._jvm


def _forget_ended() -> None:
    with _lock:
        if jvm.has_ended():
            forget_jvm()


def _kept(started: "SparkSession", of_its_spark: Mapping[str, str] = NO_PROPERTIES) -> "SparkSession":
    sessions.clear()
    sessions[os.getpid()] = started
    _replace(_applied, {**_wanted, **of_its_spark})
    return started


def replace(further: "SparkSession") -> None:
    """Let this process go on with another session of the same Spark, which Spark itself gives too."""
    from pyspark.sql import SparkSession

    with _lock:
        _kept(further)
        _replace(_applied, _started)
    SparkSession._instantiatedSession = SparkSession._activeSession = further
    java: Any = further._jvm
    java.SparkSession.setDefaultSession(further._jsparkSession)
    java.SparkSession.setActiveSession(further._jsparkSession)


def _replace(mapping: dict[str, str], by: Mapping[str, str]) -> None:
    new = dict(by)
    mapping.clear()
    mapping.update(new)


def _changed(known: "SparkSession", settings: SparkSettings, names: Collection[str]) -> "SparkSession":
    """Return a further session of the same Spark with the wanted values of some properties."""
    further = known.newSession()
    conf = {**DEFAULTS, **settings.conf, **_wanted}
    for name in names:
        if name in conf:
            further.conf.set(name, conf[name])
        else:
            further.conf.unset(name)
    return further


def _end(known: "SparkSession") -> None:
    """End a session with its JVM, which reads some properties only when it starts."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    known.stop()
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()
        try:
            gateway.proc.wait(JVM_ENDS_SECONDS)
        except subprocess.TimeoutExpired:
            gateway.proc.kill()
    forget_jvm()


def properties(settings: SparkSettings) -> dict[str, str]:
    """Return the Spark properties of a session, without those of this machine's network and logs."""
    master = _master(settings)
    # A cluster has an interface of its own, and the run links to that of its driver.
    defaults = {**DEFAULTS, **({} if is_one_process(master) else {UI: "true"})}
    conf = {**defaults, **settings.conf, **_wanted, **FIXED}
    conf.pop(MASTER, None)
    if settings.iceberg is not None:
        conf |= iceberg_conf(settings.iceberg, master, conf)
    return conf


def _master(settings: SparkSettings) -> str:
    return _wanted.get(MASTER, settings.master)


def _start(settings: SparkSettings) -> "SparkSession":
    with needs_spark():
        from pyspark.sql import SparkSession

    conf, master = properties(settings), _master(settings)
    require_answer(master)
    os.environ["JAVA_HOME"] = str(java_home())
    # Workers must use this Python, not the first one in the PATH. On other machines its path may differ.
    _set_variable("PYSPARK_PYTHON", conf.get("spark.pyspark.python", sys.executable))
    _set_variable("PYSPARK_DRIVER_PYTHON", sys.executable)
    _set_variable("SPARK_LOCAL_IP", LOOPBACK if master.startswith("local") else None)
    if master.startswith("local"):
        # Everything runs on this machine, so it must work even if its host name does not resolve.
        conf.setdefault("spark.driver.host", LOOPBACK)
        conf.setdefault("spark.driver.bindAddress", LOOPBACK)
    conf.setdefault("spark.driver.extraJavaOptions", JAVA_OPTIONS)
    builder = SparkSession.Builder().master(master).appName(settings.app_name)
    for name, value in conf.items():
        builder = builder.config(name, value)
    before = list(sys.path)
    with starting():
        started = builder.getOrCreate()
    # PySpark puts the files for executors first. The driver's own modules are those of its machine.
    sys.path[:] = [*before, *(place for place in sys.path if place not in before)]
    send_without_delay(started)
    try:
        if settings.iceberg is not None:
            _refuse_two_places(started, settings.iceberg.warehouse)
        if not is_one_process(master):
            executor_wait.watch(started, master)
            check_executors(started, master)
    except SparkJobError:
        _end(started)
        raise
    return started


def _set_variable(name: str, value: str | None) -> None:
    """Set a variable for the JVM, unless the user has; what the session before had set is not the user's."""
    if os.environ.get(name) != _variables.get(name):
        return
    _variables.pop(name, None)
    os.environ.pop(name, None)
    if value is not None:
        _variables[name] = os.environ[name] = value


def _refuse_two_places(spark: "SparkSession", warehouse: str) -> None:
    """Refuse a plain path that is local to Tidegate, but on the cluster's default file system to Spark."""
    context: Any = spark.sparkContext
    default = str(context._jsc.hadoopConfiguration().get("fs.defaultFS", "file:///"))
    if scheme_of(warehouse) == "" and scheme_of(default) != "file":
        raise OutputError(
            f"the warehouse is the local folder {warehouse}, but Spark would look for it on {default}",
            f'write path = "{default.rstrip("/")}/..." in [warehouse] of tidegate.toml, or path = '
            f'"file://{warehouse}" for a folder that is mounted on every machine of the cluster',
        )


def forget_jvm() -> None:
    """Forget a JVM that has ended, or the parent's in a forked child, without sending it any command.

    PySpark keeps these objects as class attributes and has no public API to drop them.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    for owner, names in (
        (SparkContext, ("_active_spark_context", "_gateway", "_jvm")),
        (SparkSession, ("_instantiatedSession", "_activeSession")),
    ):
        for name in names:
            if hasattr(owner, name):
                setattr(owner, name, None)
    sessions.clear()
