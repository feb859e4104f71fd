"""Calls into the JVM, the classes of Java and Scala that we use, and the messages of its exceptions.

Java's classes by their full names, without a question to the JVM for each part of a name. With PySpark's
`_jvm.org.apache.hadoop.fs.Path`, Python asks for `org`, `org.apache` and so on, and each time the JVM
searches all its jars for a class of that name: a tenth of a small publish was spent on that. Here a part
that begins with a capital letter is a class, as Java's naming conventions have it, and what comes before it
are packages. A class that does not exist fails when it is used. A static method is asked for once.

The JVM of this process's Spark: whether it has ended, whether it answers, and how it is ended.

A JVM that was killed (often by the system, for its memory) takes its session along: no later call can work.
One that hangs answers nothing, and blocks the thread that called it. Both are asked here without a call
through the session: the process table, and a connection of its own with a time limit. Where this process has
no JVM, nothing has ended and nothing hangs. Does not import PySpark: most processes with leases have none.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from tidegate.spark_jobs.java.cause import innermost_cause

if TYPE_CHECKING:
    from py4j.java_gateway import JavaMember, JavaObject
    from py4j.protocol import Py4JError
    from pyspark.sql import SparkSession


def call_java(method: "JavaMember", argument: "JavaObject") -> Any:
    """Call a Java method with one Java object, which may fail, such as the load of a table that is not there.

    PySpark makes a Python exception of each Java exception, and for that asks the JVM seventy times what kind
    of exception it is; for half of the questions the JVM searches all its jars. Recovering new tables spent
    two fifths of the JVM's time on it. Here the exception is Py4J's own, which costs one call.

    Raises:
        Py4JJavaError: the method has failed, whatever the kind of failure.
        Py4JError: the JVM does not answer.
    """
    from py4j.protocol import CALL_COMMAND_NAME, END_COMMAND_PART, get_command_part, get_return_value

    client: Any = method.gateway_client
    command = f"{CALL_COMMAND_NAME}{method.command_header}{get_command_part(argument)}{END_COMMAND_PART}"
    # Not the function of this name in `py4j.java_gateway`, which PySpark has replaced.
    return get_return_value(client.send_command(command), client, method.target_id, method.name)


def send_without_delay(spark: "SparkSession") -> None:
    """Switch Nagle's algorithm off for what the JVM sends to this Python thread.

    Py4J's Java side writes an answer of more than 8 KB in several pieces, and the second one waits until the
    first is acknowledged, for which Linux takes 40 ms. The log of an Iceberg table is that long after some
    forty publishes, and a publish reads it four times.

    Where PySpark does not give each thread its own connection (PYSPARK_PIN_THREAD=false), nothing changes.
    """
    from py4j.protocol import Py4JError

    gateway: Any = spark.sparkContext._gateway
    with suppress(Py4JError, AttributeError):
        connection = gateway.java_gateway_server.getCallbackClient().getPerThreadConnection()
        connection.getSocket().setTcpNoDelay(True)


@cache
def _class_type() -> Any:
    """Return the type of a Java class here, whose parent only exists where Spark is installed."""
    from py4j.java_gateway import JavaClass, JavaMember

    class KeptClass(JavaClass):
        # Its static methods are kept: otherwise Python asks the JVM for one at each access.

        __doc__ = None  # pyright: ignore[reportIncompatibleMethodOverride] -- Py4J's asks Java

        def __getattr__(self, name: str) -> Any:
            found = super().__getattr__(name)
            if isinstance(found, JavaMember):
                setattr(self, name, found)
            return found

    return KeptClass


class Package:
    """A Java package; its attributes are the packages and classes in it."""

    def __init__(self, client: Any, name: str = "") -> None:
        self._client = client
        self._name = name

    def __getattr__(self, part: str) -> Any:
        if part.startswith("_"):
            raise AttributeError(part)
        name = f"{self._name}.{part}" if self._name else part
        found = _class_type()(name, self._client) if part[0].isupper() else Package(self._client, name)
        # The next access finds the attribute and does not come here.
        setattr(self, part, found)
        return found


_of_gateways: WeakKeyDictionary[Any, Package] = WeakKeyDictionary()


def java_classes(spark: "SparkSession") -> Any:
    """Return the root of all packages of a session's JVM: `java_classes(spark).java.io.File` is a class."""
    gateway: Any = spark.sparkContext._gateway
    found = _of_gateways.get(gateway)
    if found is None:
        found = _of_gateways[gateway] = Package(gateway._gateway_client)
    return found


def of_plan(spark: "SparkSession", plan: Any) -> Any:
    """Return the Java frame of an analysed plan."""
    return _classic(spark).Dataset.ofRows(spark._jsparkSession, plan)


def of_expression(spark: "SparkSession", expression: Any) -> Any:
    """Return the Java column of an expression."""
    if is_before_4():
        return java_classes(spark).org.apache.spark.sql.Column(expression)
    return _classic(spark).ExpressionUtils.column(expression)


def expression_of(spark: "SparkSession", column: Any) -> Any:
    """Return the expression of a Java column."""
    return column.expr() if is_before_4() else _classic(spark).ExpressionUtils.expression(column)


def _classic(spark: "SparkSession") -> Any:
    """Return the package of what sessions with a JVM have, apart from Spark Connect since Spark 4."""
    sql = java_classes(spark).org.apache.spark.sql
    return sql if is_before_4() else sql.classic


def is_before_4() -> bool:
    """Return whether the installed Spark is older than version 4."""
    import pyspark

    return pyspark.__version__.startswith("3.")


FAILURE_CHARACTERS = 500
"""How much of a failure is kept: errors of Java contain long stack traces."""


def java_message(error: "Py4JError") -> str:
    """Return the message of a failure in the JVM, after the name of its class."""
    from py4j.protocol import Py4JJavaError

    if isinstance(error, Py4JJavaError):
        return f"{error.java_exception.getClass().getSimpleName()}: {error.java_exception.getMessage()}"
    return str(error)


def failure_text(error: Exception) -> str:
    """Return a failure as one short text for people."""
    from py4j.protocol import Py4JError

    text = innermost_cause(str(error)) or java_message(error) if isinstance(error, Py4JError) else str(error)
    return f"{type(error).__name__}: {text}"[:FAILURE_CHARACTERS]


ANSWER_SECONDS = 20
"""A collection of garbage takes a second or two, on a machine that swaps perhaps ten."""

END_SECONDS = 10
"""From the moment a connection breaks to the moment at which the system reports the end of the process. It
frees the memory of the JVM before that, which takes seconds on a busy machine."""

GREETING_SECONDS = 1
"""How long to wait for the answer of a JVM that may be about to end."""

POLL_SECONDS = 0.05
LOST = ("Py4JError", "Py4JNetworkError")
"""What a call raises whose answer does not come; an exception in the JVM is a Py4JJavaError."""

WHY_LOST = "it was killed, often for its memory: give the driver more with spark.driver.memory"
"""What people are to know of a JVM that has ended."""

NOT_STARTED = "[JAVA_GATEWAY_EXITED]"
"""PySpark's class of the error of a JVM that ended before it said where it listens."""

_AUTHENTICATED = b"!yv"

_replaced: list[int] = []
"""The JVMs of this process that have ended, and whose place another one takes; by process id."""


def jvm_process() -> "subprocess.Popen[bytes] | None":
    """Return the JVM that this process has started."""
    return getattr(_gateway(), "proc", None)


@contextmanager
def starting() -> Iterator[None]:
    """End the JVM that a block starts, if the block fails before PySpark knows it.

    PySpark then removes the folder in which the JVM is about to note where it listens. The JVM fails at that,
    and would live on without anything that knows it, since it listens.
    """
    from pyspark import java_gateway

    started: list[subprocess.Popen[bytes]] = []
    module: Any = java_gateway
    popen = module.Popen

    def noted(*given: Any, **named: Any) -> Any:
        started.append(popen(*given, **named))
        return started[-1]

    module.Popen = noted
    try:
        yield
    except BaseException:
        for process in started:
            if process is not jvm_process():
                process.kill()
        raise
    finally:
        module.Popen = popen


def has_ended() -> bool:
    """Return whether the JVM that this process has started has ended."""
    process = getattr(_gateway(), "proc", None)
    if process is None:
        return False
    if process.returncode is not None:
        return True
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        # A forked child has inherited its parent's.
        return False


def answers(seconds: float = ANSWER_SECONDS) -> bool:
    """Return whether the JVM of this process answers within a time limit."""
    gateway = _gateway()
    if gateway is None:
        return True
    if has_ended():
        return False
    where = getattr(gateway, "java_parameters", None) or gateway.gateway_parameters
    try:
        with socket.create_connection((where.address, where.port), seconds) as connection:
            # Each connection begins with this command; only a JVM that runs answers it.
            connection.sendall(f"A\n{where.auth_token}\n".encode())
            return connection.recv(len(_AUTHENTICATED)) == _AUTHENTICATED
    except OSError:
        return False


def note_end() -> None:
    """Count the JVM of this process, which has ended and is about to be replaced."""
    process = jvm_process()
    if process is not None:
        _replaced.append(process.pid)


def ends() -> int:
    """Return how many JVMs of this process have ended and were replaced so far."""
    return len(_replaced)


def was_lost(error: BaseException, since: int | None = None) -> bool:
    """Return whether an error was raised because the JVM of this process has ended, or ended at its start.

    Args:
        since: `ends` of when the work began that has failed. Its JVM may have been replaced meanwhile: by
            another thread, or by this one to see what the work has left.
    """
    if any(NOT_STARTED in str(each) for each in _causes(error)):
        return True
    if not any(_is_of_connection(each) for each in _causes(error)):
        return has_ended()
    if since is not None and ends() > since:
        return True
    until = monotonic() + END_SECONDS
    while not has_ended():
        if _gateway() is None or answers(GREETING_SECONDS):
            return False
        if monotonic() > until:
            return has_ended()
        sleep(POLL_SECONDS)
    return True


def kill() -> None:
    """Kill the JVM of this process, so that the threads that wait for its answer fail."""
    process = getattr(_gateway(), "proc", None)
    if process is not None:
        with suppress(ProcessLookupError):
            process.kill()


def _gateway() -> Any:
    pyspark = sys.modules.get("pyspark")
    return None if pyspark is None else pyspark.SparkContext._gateway


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what it was raised from, or while."""
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__cause__ or found.__context__


def call_with(call: Callable[..., Any], *arguments: Any, newer: Any) -> Any:
    """Call a method or constructor of Spark that takes one more argument since some version.

    Args:
        newer: that argument. Versions are not compared: which one it is differs from method to method.
    """
    from py4j.protocol import Py4JError, Py4JJavaError

    try:
        return call(*arguments)
    except Py4JError as error:
        if isinstance(error, Py4JJavaError) or "does not exist" not in str(error):
            raise
        return call(*arguments, newer)


def _is_of_connection(error: BaseException) -> bool:
    broken = ConnectionRefusedError | ConnectionResetError | BrokenPipeError | EOFError
    return isinstance(error, broken) or type(error).__name__ in LOST
