"""The options in `[iceberg.catalog]`: the types of catalogs, their required options, and where each is safe.

Most options are passed to Iceberg unchanged. Only those are checked that
would otherwise fail late, in a run, with a Java stack trace, or would not fail at all: a `hadoop`
catalog commits by a rename, which on an object store loses one of two commits. This module is pure.
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
"""The allowed values of `type`, each with its required options and an example value."""


def kind_of(options: Mapping[str, str]) -> str:
    """Return the `type` of a catalog, by default "hadoop"; "" for one with another `catalog-impl`."""
    named = options.get("catalog-impl")
    if named is not None:
        return {HADOOP_IMPL: "hadoop", REST_IMPL: "rest"}.get(named, "")
    return options.get("type", "hadoop").lower()


def with_defaults(options: Mapping[str, str], warehouse: str) -> dict[str, str]:
    """Return the options with our defaults: a catalog of type `hadoop` in the warehouse, without a cache."""
    kind = kind_of(options)
    found = {**options, "type": kind} if kind else dict(options)
    if kind:
        found.pop("catalog-impl", None)
    if kind != "rest":
        # For a REST server, a warehouse is a name that the server defines.
        found.setdefault("warehouse", warehouse)
    # A cached table would hide the publishes of other processes.
    found["cache-enabled"] = "false"
    return found


def catalog_fault(options: Mapping[str, str], warehouse: str) -> tuple[str, str] | None:
    """Return what is wrong with the options, with a hint; None when they are valid."""
    if "type" in options and "catalog-impl" in options:
        return "iceberg.catalog has both type and catalog-impl", "delete one of them"
    kind = kind_of(options)
    if kind and kind not in KINDS:
        close = get_close_matches(kind, KINDS, n=1)
        hint = f'did you mean "{close[0]}"?' if close else f"write one of {', '.join(KINDS)}"
        return (
            f'iceberg.catalog.type is "{options["type"]}", which Tidegate does not know',
            f"{hint}; for any other catalog, set catalog-impl instead",
        )
    for name, example in KINDS.get(kind, {}).items():
        if not options.get(name):
            return f"iceberg.catalog of type {kind} has no {name}", f'write for example {name} = "{example}"'
    if kind == "jdbc" and not options["uri"].startswith("jdbc:"):
        return f'iceberg.catalog.uri is "{options["uri"]:.100}"', 'write a JDBC URL, "jdbc:..."'
    where = options.get("warehouse", warehouse)
    if kind == "hadoop" and not promises_of(where).moves_folders and "lock-impl" not in options:
        return (
            f"an iceberg catalog of type hadoop loses commits on {scheme_of(where)}:, "
            "where a rename is not atomic",
            'set type = "rest", "jdbc", "hive" or "glue" in [iceberg.catalog]',
        )
    return None


def opening_fault(trace: str) -> tuple[str, str] | None:
    """Return what a failure to open the catalog shows about the settings, with a hint; None for nothing.

    Args:
        trace: the Java stack trace with all causes.
    """
    if "No suitable driver" in trace:
        return (
            "Spark does not have the JDBC driver for the database in iceberg.catalog.uri",
            'add the jar of the driver to "spark.driver.extraClassPath" in [spark.conf]',
        )
    if "software/amazon/awssdk" in trace or "software.amazon.awssdk" in trace:
        return (
            "the Iceberg catalog needs the AWS SDK, which Spark does not have",
            f"set Iceberg's bundles as packages in [iceberg]: {AWS_PACKAGES}",
        )
    missing = _MISSING.search(trace)
    if missing is not None:
        return (
            f"the Iceberg catalog needs the class {missing[1].replace('/', '.')}, which Spark does not have",
            "check the spelling of catalog-impl and io-impl in [iceberg.catalog]; add the package of the "
            'class to packages in [iceberg], or its jar to "spark.jars" in [spark.conf]',
        )
    return None
