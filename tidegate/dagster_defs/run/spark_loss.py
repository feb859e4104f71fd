"""The failure of a step whose JVM has ended: what Dagster shows of it, instead of a broken connection."""

from tidegate.spark_jobs import jvm
from tidegate.spark_jobs.errors import SparkLost


def spark_loss(error: Exception) -> SparkLost | None:
    """Return the failure of a step whose JVM has ended under it; None if an error has another cause."""
    if not jvm.was_lost(error):
        return None
    return SparkLost(
        f"the JVM of Spark has ended: {type(error).__name__}",
        "it was killed, often for its memory: give the driver more with spark.driver.memory, or start the run"
        " where more is free",
    )
