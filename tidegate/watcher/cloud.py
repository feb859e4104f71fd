"""The files below a URL, listed through fsspec with the package of the store: s3fs, gcsfs, adlfs.

Only names, sizes and stamps are read. Credentials come from the environment as the store's own client
finds them, and from the settings.
"""

from collections.abc import Mapping
from typing import Any

from tidegate.spark_jobs.files.scheme import scheme_of
from tidegate.watcher.found import FILES_MAX, FoundFile, Listing, WatchError, note, too_many

PACKAGES: Mapping[str, tuple[str, str]] = {
    "s3": ("s3fs", "s3"),
    "s3a": ("s3fs", "s3"),
    "gs": ("gcsfs", "gcs"),
    "abfs": ("adlfs", "azure"),
    "abfss": ("adlfs", "azure"),
    "memory": ("fsspec", "s3"),
}
"""The package and the extra of Tidegate for each scheme that can be watched."""

STAMPS = ("ETag", "etag", "generation", "LastModified", "last_modified", "updated", "mtime", "created")
"""What the packages call that which changes with each write of an object, the surest first."""

S3_SETTINGS = {
    "spark.hadoop.fs.s3a.access.key": "key",
    "spark.hadoop.fs.s3a.secret.key": "secret",
    "spark.hadoop.fs.s3a.session.token": "token",
    "spark.hadoop.fs.s3a.endpoint": "endpoint_url",
}
"""The names of s3fs for what Spark is configured with."""

MESSAGE_CHARACTERS = 500


def options_of(folder: str, spark_conf: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the client: those that Spark has for S3, and the given ones over them."""
    found: dict[str, Any] = {}
    if scheme_of(folder) in ("s3", "s3a"):
        found = {name: spark_conf[key] for key, name in S3_SETTINGS.items() if key in spark_conf}
        endpoint = found.get("endpoint_url")
        if endpoint and "://" not in endpoint:
            found["endpoint_url"] = f"https://{endpoint}"
    return {**found, **given}


def list_cloud(folder: str, dimensions: int, options: Mapping[str, Any]) -> Listing:
    """Return the files below a URL; see `listing.list_folder`."""
    scheme = scheme_of(folder)
    if scheme not in PACKAGES:
        raise WatchError(
            f"folders of {scheme}:// cannot be watched, got {folder}",
            f"report partitions there; watched are local folders and {', '.join(sorted(PACKAGES))}",
        )
    package, extra = PACKAGES[scheme]
    try:
        from fsspec.core import url_to_fs

        files, root = url_to_fs(folder, use_listings_cache=False, **options)
    except ImportError as error:
        raise WatchError(
            f"to watch {scheme}:// needs the package {package}, which is not installed",
            f"pip install 'tidegate[{extra}]'",
        ) from error
    except Exception as error:
        raise _failed(folder, error) from error
    try:
        files.invalidate_cache(root)
        found = _found(files, root)
        # A bucket that does not exist is listed like an empty folder.
        bucket = root.partition("/")[0]
        exists = bool(found) or not bucket or files.exists(bucket)
    except Exception as error:
        raise _failed(folder, error) from error
    if not exists:
        raise WatchError(f"{folder}: there is no {bucket}", "create it, or correct [warehouse] paths_from")
    if len(found) > FILES_MAX:
        raise too_many(folder)
    return _listing(found, root.rstrip("/"), dimensions)


def tail_in_cloud(folder: str, path: str, options: Mapping[str, Any], length: int) -> bytes:
    """Return the last bytes of an object below a URL.

    Raises:
        WatchError: it cannot be read.
    """
    from fsspec.core import url_to_fs

    try:
        files, root = url_to_fs(folder, use_listings_cache=False, **options)
        return files.tail(f"{root.rstrip('/')}/{path}", length)
    except Exception as error:
        raise _failed(folder, error) from error


def _found(files: Any, root: str) -> dict[str, dict[str, Any]]:
    try:
        return files.find(root, detail=True)
    except FileNotFoundError:
        return {}


def _listing(found: Mapping[str, Mapping[str, Any]], root: str, dimensions: int) -> Listing:
    listing = Listing([], [])
    for path, info in found.items():
        # An empty object whose name ends with a slash is how some tools make a folder.
        if info.get("type") != "file" or path.endswith("/") or not path.startswith(f"{root}/"):
            continue
        *folders, name = path[len(root) + 1 :].split("/")
        if len(folders) == dimensions:
            listing.files.append(FoundFile(tuple(folders), name, int(info.get("size") or 0), _stamp(info)))
        elif len(folders) < dimensions:
            note(listing.notes, f"{path!r:.300} is in no partition's folder")
    return listing


def _stamp(info: Mapping[str, Any]) -> str:
    return " ".join(str(info[name]) for name in STAMPS if info.get(name) is not None)


def _failed(folder: str, error: Exception) -> WatchError:
    said = next(iter(str(error).splitlines()), "") or type(error).__name__
    return WatchError(
        f"{folder} cannot be listed: {type(error).__name__}: {said[:MESSAGE_CHARACTERS]}",
        "check bucket, network and credentials; [watch.options] in tidegate.toml is for the client",
    )
