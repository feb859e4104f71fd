"""What `[iceberg.catalog]` may say: the kinds of catalogs, what each needs, and where it is safe.

The options are Iceberg's own and most are handed on as they are. Looked at is only what
would otherwise fail late, in a run, with a stack trace of Java, or would not fail at all: a `hadoop`
catalog commits by a rename, which on an object store loses one of two commits. Pure.
"""

import re
from collections.abc import Mapping
from difflib import get_close_matches

from tidegate.spark_jobs.files.scheme import promises_of, scheme_of

HADOOP_IMPL = "org.apache.iceberg.hadoop.HadoopCatalog"
REST_IMPL = "org.apache.iceberg.rest.RESTCatalog"
AWS_PACKAGES = (
    "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.2,org.apache.iceberg:iceberg-aws-bundle:1.10.2"
)
_MISSING = re.compile(r"(?:ClassNotFoundException|NoClassDefFoundError): ([\w.$/]+)")

KINDS: Mapping[str, Mapping[str, str]] = {
    "hadoop": {},
    "hive": {},
    "jdbc": {"uri": "jdbc:postgresql://host/catalog"},
    "rest": {"uri": "https://host/catalog"},
    "glue": {},
    "nessie": {"uri": "https://host/api/v2"},
    "bigquery": {"gcp.bigquery.project-id": "my-project"},
}
"""What `type` may be, with the options that each cannot do without, and an example of them."""


def kind_of(options: Mapping[str, str]) -> str:
    """The `type` of a catalog, "hadoop" by default, "" for one that is named by its class."""
    named = options.get("catalog-impl")
    if named is not None:
        return {HADOOP_IMPL: "hadoop", REST_IMPL: "rest"}.get(named, "")
    return options.get("type", "hadoop").lower()


def with_defaults(options: Mapping[str, str], warehouse: str) -> dict[str, str]:
    """The options with our defaults: a catalog of type `hadoop` on the warehouse, nothing cached."""
    kind = kind_of(options)
    found = {**options, "type": kind} if kind else dict(options)
    if kind:
        found.pop("catalog-impl", None)
    if kind != "rest":
        # What a REST server calls a warehouse is a name of its own.
        found.setdefault("warehouse", warehouse)
    # A cached table would hide what another process has published.
    found["cache-enabled"] = "false"
    return found


def catalog_fault(options: Mapping[str, str], warehouse: str) -> tuple[str, str] | None:
    """What is wrong with the options, and what to write instead; None when nothing is."""
    if "type" in options and "catalog-impl" in options:
        return "iceberg.catalog has both type and catalog-impl", "delete one of them"
    kind = kind_of(options)
    if kind and kind not in KINDS:
        close = get_close_matches(kind, KINDS, n=1)
        hint = f'did you mean "{close[0]}"?' if close else f"known are {', '.join(KINDS)}"
        return f'iceberg.catalog.type is "{options["type"]}"', f"{hint}; any other catalog: catalog-impl"
    for name, example in KINDS.get(kind, {}).items():
        if not options.get(name):
            return f"iceberg.catalog of type {kind} has no {name}", f'write for example {name} = "{example}"'
    if kind == "jdbc" and not options["uri"].startswith("jdbc:"):
        return f'iceberg.catalog.uri is "{options["uri"]:.100}"', 'write a JDBC URL, "jdbc:..."'
    where = options.get("warehouse", warehouse)
    if kind == "hadoop" and not promises_of(where).moves_folders and "lock-impl" not in options:
        return (
            f"an iceberg catalog of type hadoop loses commits on {scheme_of(where)}:, "
            "where a rename is no single act",
            'set type = "rest", "jdbc", "hive" or "glue" in [iceberg.catalog]',
        )
    return None


def opening_fault(trace: str) -> tuple[str, str] | None:
    """What a failure to open the catalog says of the settings; None when it says nothing of them.

    Args:
        trace: Java's, with all causes.
    """
    if "No suitable driver" in trace:
        return (
            "iceberg.catalog.uri names a database whose JDBC driver Spark does not have",
            'name the jar of the driver in "spark.driver.extraClassPath" in [spark.conf]',
        )
    if "software/amazon/awssdk" in trace or "software.amazon.awssdk" in trace:
        return (
            "the Iceberg catalog needs the AWS SDK, and Spark does not have it",
            f"name Iceberg's bundles in [iceberg] packages: {AWS_PACKAGES}",
        )
    missing = _MISSING.search(trace)
    if missing is not None:
        return (
            f"the Iceberg catalog needs the class {missing[1].replace('/', '.')}, which Spark does not have; "
            "iceberg.catalog.catalog-impl or io-impl may be misspelt",
            'add its package to [iceberg] packages, or its jar to "spark.jars" in [spark.conf]',
        )
    return None
