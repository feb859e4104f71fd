"""Calls into the JVM that Py4J would make slowly: those that fail at times, and those with long answers."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from py4j.java_gateway import JavaMember, JavaObject
from py4j.protocol import CALL_COMMAND_NAME, END_COMMAND_PART, Py4JError, get_command_part, get_return_value

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def call_java(method: JavaMember, argument: JavaObject) -> Any:
    """Call a Java method with one Java object, which may fail, such as the load of a table that is not there.

    PySpark makes a Python exception of each Java exception, and for that asks the JVM seventy times what kind
    of exception it is; for half of the questions the JVM searches all its jars. Recovering new tables spent
    two fifths of the JVM's time on it. Here the exception is Py4J's own, which costs one call.

    Raises:
        Py4JJavaError: the method has failed, whatever the kind of failure.
        Py4JError: the JVM does not answer.
    """
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
    gateway: Any = spark.sparkContext._gateway
    with suppress(Py4JError, AttributeError):
        connection = gateway.java_gateway_server.getCallbackClient().getPerThreadConnection()
        connection.getSocket().setTcpNoDelay(True)
