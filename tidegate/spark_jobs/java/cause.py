"""The innermost cause of a failure in Spark, from the text of its exception, and the file that it is about.

Spark wraps what went wrong: "Job aborted", "[TASK_WRITE_FAILED]", "Exception thrown in awaitResult" say where
Spark was, not what to repair. The text of the exception has each cause on a line of its own:

    : org.apache.spark.SparkException: Job aborted due to stage failure: … executor driver): CLASS: message
        at …
    Caused by: java.lang.RuntimeException: file:/landing/day=2026-11-20/a.parquet is not a Parquet file. …

The innermost one that has a message counts; without any, its class. Pure.
"""

import re
from collections.abc import Iterator
from urllib.parse import unquote

_CAUSE = re.compile(r"^(?:Caused by: |: )?(?P<kind>[\w$]+(?:\.[\w$]+)+)(?:: ?(?P<message>.*))?$")
_IN_TASK = re.compile(r"\(TID \d+\) \(.*?\): (?P<cause>[\w$]+(?:\.[\w$]+)+(?::.*)?)$")
_FRAMES = re.compile(
    r"Job aborted|TASK_WRITE_FAILED|awaitResult|upgrading to Spark|Task failed while writing"
)
"""What Spark says of itself around a cause."""

_FILE = re.compile(r"(?:file|hdfs|s3a?|gs|abfss?|wasbs?):/+.*?\.\w{2,8}(?=[\s,:;)\]]|\.\s|\.?$)")
_VALUE = re.compile(r"(?:^|/)(?P<name>[^/=]+)=(?P<value>[^/]*)(?=/)")


def innermost_cause(text: str) -> str | None:
    """Return the innermost cause in the text of an exception, as "CLASS: message"; None without one."""
    causes = list(_causes(text))
    if not causes:
        return None
    telling = [(kind, said) for kind, said in causes if said and not _FRAMES.search(said)]
    kind, said = telling[-1] if telling else causes[-1]
    named = _FILE.search(said)
    # The last cause may be about a column, and the one around it has the file.
    others = (_FILE.search(message) for _, message in reversed(telling))
    found = named or next((each for each in others if each is not None), None)
    if found is None:
        return f"{kind}: {said}" if said else kind
    file = decoded(found[0])
    about = about_partition(file)
    if named is None:
        return f"{kind}: {said}, in {file}{about}"
    return f"{kind}: {said.replace(named[0], file)}{about}"


def about_partition(file: str) -> str:
    """Return what names the partition of a file behind a message; "" for one of no partition."""
    key = partition_key(file)
    return f" (partition {key})" if key else ""


def decoded(name: str) -> str:
    """Return the name of a file as people write it; Spark escapes the names of folders that are escaped."""
    return unquote(unquote(name))


def partition_key(file: str) -> str:
    """Return the key of the partition in whose folders a file is; "" without such folders."""
    values = sorted((found["name"], found["value"]) for found in _VALUE.finditer(file))
    return "|".join(value for _, value in values)


def _causes(text: str) -> Iterator[tuple[str, str]]:
    """Yield class and message of each cause, the outermost first."""
    for number, line in enumerate(text.splitlines()):
        if number < 2 or line.startswith("Caused by: "):
            found = _CAUSE.match(line.strip())
            if found is not None:
                yield found["kind"], (found["message"] or "").strip()
        inner = _IN_TASK.search(line)
        nested = inner and _CAUSE.match(inner["cause"])
        if nested:
            yield nested["kind"], (nested["message"] or "").strip()
