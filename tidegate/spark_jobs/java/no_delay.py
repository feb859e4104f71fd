"""Long answers of the JVM without a wait of 40 ms.

Py4J's Java side writes an answer of more than 8 KB in several pieces, to a socket with Nagle's algorithm: the
second piece waits until the first one is acknowledged, for which Linux takes 40 ms. The log of an Iceberg
table is that long after some forty publishes, and a publish reads it four times.
"""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def send_without_delay(spark: "SparkSession") -> None:
    """Switch Nagle's algorithm off for what the JVM sends to this Python thread.

    Where PySpark does not give each thread its own connection (PYSPARK_PIN_THREAD=false), nothing changes.
    """
    gateway: Any = spark.sparkContext._gateway
    with suppress(Py4JError, AttributeError):
        connection = gateway.java_gateway_server.getCallbackClient().getPerThreadConnection()
        connection.getSocket().setTcpNoDelay(True)
