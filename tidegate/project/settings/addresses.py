"""Addresses in the settings: of the store, folders on a cluster, pages of others, each checked."""

import os
import re
from pathlib import Path

from tidegate.project.environment import STORE_VARIABLE
from tidegate.project.settings.language import SettingsError, StoreSection

MAY_LACK_HOST = ("file", "hdfs", "viewfs")
"""Schemes whose URLs may omit the host, which Hadoop's settings then define: hdfs:///lake."""


def webserver(file: Path, url: str, key: str = "dagster.webserver_url") -> str:
    """Check the URL of a page, such as that of Dagster's UI, and return it without a trailing slash."""
    if url and not url.startswith(("http://", "https://")):
        raise SettingsError(
            f'{file}: {key} must be a URL, got "{url}"',
            f'write for example {key.rpartition(".")[2]} = "http://127.0.0.1:3000"',
        )
    return url.rstrip("/")


def folder_url(file: Path, key: str, url: str) -> str:
    """Check the URL of a folder and return it without a trailing slash."""
    from tidegate.spark_jobs.files.scheme import SCHEMES, scheme_of

    scheme, rest = scheme_of(url), url.partition(":")[2].rstrip("/")
    if scheme not in SCHEMES:
        raise SettingsError(
            f'{file}: warehouse.{key} is on the unsupported file system "{scheme}"',
            f"write a folder, or a URL with {', '.join(f'{one}:' for one in SCHEMES)}",
        )
    host_is_known = scheme in MAY_LACK_HOST or re.match("//[^/]", rest)
    if not rest or not host_is_known or {".", "..", "\0"} & {*rest.split("/"), *rest}:
        raise SettingsError(
            f"{file}: warehouse.{key} must be the URL of a folder, got {url!r:.100}",
            f'write for example {key} = "{scheme}://name/lake"',
        )
    if ":" in rest.removeprefix("//").partition("/")[0].partition("@")[0] and "@" in rest:
        raise SettingsError(
            f"{file}: warehouse.{key} has a password, and is written to the store",
            "leave it out, and give Spark the credentials in [spark.conf], as references",
        )
    return f"{scheme}:{rest}"


def store_url(file: Path, in_file: str, *, is_given: bool) -> str:
    """Return the store's URL with an absolute path; the environment overrides the file."""
    from_environment = None if is_given else os.environ.get(STORE_VARIABLE)
    url = from_environment or in_file
    place = STORE_VARIABLE if from_environment else f"{file}: store.url"
    scheme, colon, rest = url.partition("://")
    if not colon or scheme.split("+")[0] not in ("sqlite", "postgresql", "postgres"):
        raise SettingsError(
            f"{place} must be a SQLite or PostgreSQL URL",
            f'write "{StoreSection().url}" or "postgresql+psycopg2://user@host/database"',
        )
    if not scheme.startswith("sqlite"):
        return url
    path, question, options = rest.removeprefix("/").partition("?")
    if not path or path.startswith((":memory:", "file:")):
        raise SettingsError(
            f"{place} must name a file: a store in memory would end with the command",
            f'write "{StoreSection().url}"',
        )
    return f"{scheme}:///{(file.parent / path).resolve()}{question}{options}"


def is_in(project: Path, url: str) -> bool:
    """Whether a store is a SQLite file in a folder."""
    scheme, _, file = url.partition(":///")
    return scheme.startswith("sqlite") and Path(file.partition("?")[0]).is_relative_to(project)
