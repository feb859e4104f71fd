"""The session of a `PySparkResource` of dagster-pyspark, or of another resource with a `spark_session`.

Dagster sets a resource up once for all steps that run in one process, and for every further try of a step in
it. So the resource goes on handing out a session whose JVM has ended. It is set up again here. The code of an
asset has an instance of its own of the resource that the IO manager was given. This module relies on an
attribute of dagster-pyspark that is not public.
"""

from typing import Any

from dagster import build_init_resource_context
from pyspark.sql import SparkSession

from tidegate.spark_jobs.errors import SparkLost
from tidegate.spark_jobs.session.session import is_lost

_KEPT = "_spark_session"
"""Where both resources of dagster-pyspark keep their session."""


def renew(resource: Any) -> None:
    """Set a resource of dagster-pyspark up again if the JVM of its session has ended; leave others alone."""
    kept = getattr(resource, _KEPT, None)
    if isinstance(kept, SparkSession) and is_lost(kept):
        # The lazy one starts a session when it is asked for one and has none.
        setattr(resource, _KEPT, None)
        resource.setup_for_execution(build_init_resource_context())


def session_of(resource: Any) -> SparkSession | None:
    """Return the session of a resource, a new one if its JVM has ended; None before Dagster has set it up.

    Raises:
        SparkLost: its JVM has ended, and the resource does not start another one.
    """
    renew(resource)
    found: SparkSession | None = resource.spark_session
    if found is not None and is_lost(found):
        raise SparkLost(
            f"the JVM of Spark has ended, and {type(resource).__name__} still has its session",
            "execute the run again; with the multiprocess executor each try of a step is another process, in"
            " which Dagster sets the resource up again",
        )
    return found
