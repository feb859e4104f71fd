"""The file systems of a cluster, reached through the Hadoop FileSystem of the Spark session.

scheme.py lists what each store guarantees, which decides how a file is created:

    link, rename   written to a hidden file beside it, then linked or renamed, unless the name exists
    create         written under its name and visible once closed, unless the name exists
    none           refused: two writers could both believe they were first

A Java failure becomes the `OSError` that Python would raise. Nothing is cached: every operation
calls the JVM, and the first one starts the session.
"""

import errno
import io
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import SparkSession

from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.files.filesystem import Entry, LocalFiles, at_once
from tidegate.spark_jobs.files.scheme import promises_of, scheme_of
from tidegate.spark_jobs.java.jvm import java_classes

MISSING = ("java.io.FileNotFoundException", "java.nio.file.NoSuchFileException")
TAKEN = ("org.apache.hadoop.fs.FileAlreadyExistsException", "java.nio.file.FileAlreadyExistsException")
NO_DRIVER = ("UnsupportedFileSystemException", "ClassNotFoundException")


class HadoopFiles:
    """Every file system that Spark reaches, by its URLs; see `FileSystem` for the methods."""

    def __init__(self, spark: Callable[[], SparkSession]) -> None:
        self._spark = spark

    def list(self, folder: str) -> tuple[Entry, ...]:
        try:
            with java_failures(folder):
                path, system = self._at(folder)
                found = [_entry(status) for status in system.listStatus(path)]
                if len(found) == 1 and not system.getFileStatus(path).isDirectory():
                    return ()  # A file lists itself.
        except FileNotFoundError:
            return ()
        return tuple(sorted(found, key=lambda entry: entry.name))

    def exists(self, path: str) -> bool:
        with java_failures(path):
            where, system = self._at(path)
            return bool(system.exists(where))

    def read(self, file: str) -> bytes | None:
        with suppress(FileNotFoundError), self._opened(file) as stream:
            return bytes(self._java.org.apache.commons.io.IOUtils.toByteArray(stream))
        return None

    def put_if_absent(self, file: str, content: bytes) -> bool:
        """Raises `OutputError` where the store cannot create a file that way."""
        creates_by = self._promised(file)
        with java_failures(file):
            path, system = self._at(file)
            if system.exists(path):
                return False
            try:
                if creates_by == "create":
                    self._create(system, path, content)
                else:
                    self._place(system, path, content, linked=creates_by == "link")
            except Py4JJavaError as error:
                # Some drivers report an existing name by another exception, so check whether it exists.
                if _class(error) in TAKEN or (_class(error) not in MISSING and system.exists(path)):
                    return False
                raise
        return True

    def rename(self, moves: Mapping[str, str]) -> None:
        at_once(lambda move: self._move(*move), moves.items())

    def _move(self, source: str, target: str) -> None:
        if not promises_of(target).moves_folders:
            raise io.UnsupportedOperation(f"{scheme_of(target)}: moves folders file by file: {target}")
        with java_failures(f"{source} to {target}"):
            path, system = self._at(target)
            if system.exists(path):
                raise FileExistsError(errno.EEXIST, "the target of a rename exists", target)
            system.mkdirs(path.getParent())
            # Not FileSystem.rename, which moves into a target folder that was created meanwhile.
            self._context(path).rename(self._at(source)[0], path, self._options())

    def delete(self, path: str) -> None:
        with suppress(FileNotFoundError), java_failures(path):
            where, system = self._at(path)
            system.delete(where, True)

    def sync(self, folder: str) -> None:
        """What is closed is durable, but on a local disk."""
        if scheme_of(folder) == "file":
            with java_failures(folder):
                LocalFiles().sync(str(self._at(folder)[0].toUri().getPath()))

    def moves_folders_whole(self, folder: str) -> bool:
        self._promised(folder)
        return promises_of(folder).moves_folders

    def copy(self, source: str, target: str) -> None:
        with java_failures(f"{source} to {target}"):
            (source_path, source_system), (path, system) = self._at(source), self._at(target)
            shows_at_close = promises_of(target).creates_by not in ("link", "rename")
            written = path if shows_at_close else self._hidden(path)
            self._java.org.apache.hadoop.fs.FileUtil.copy(
                source_system, source_path, system, written, False, True, self._conf
            )
            if not shows_at_close:
                self._context(path).rename(written, path, self._options("OVERWRITE"))

    def digest(self, file: str) -> str | None:
        """The content is read in the JVM and not sent to Python."""
        with suppress(FileNotFoundError), self._opened(file) as stream:
            return str(self._java.org.apache.commons.codec.digest.DigestUtils.sha256Hex(stream))
        return None

    def local_path(self, place: str) -> Path | None:
        """Hadoop creates no links."""
        return None

    @contextmanager
    def _opened(self, file: str) -> Iterator[Any]:
        with java_failures(file):
            path, system = self._at(file)
            stream = system.open(path)
            try:
                yield stream
            finally:
                stream.close()

    def _place(self, system: Any, path: Any, content: bytes, *, linked: bool) -> None:
        hidden = self._hidden(path)
        try:
            self._create(system, hidden, content, synced=True)
            if linked:
                file: Any = self._java.java.io.File
                self._java.java.nio.file.Files.createLink(
                    file(path.toUri().getPath()).toPath(), file(hidden.toUri().getPath()).toPath()
                )
            else:
                self._context(path).rename(hidden, path, self._options())
        finally:
            system.delete(hidden, False)

    def _create(self, system: Any, path: Any, content: bytes, *, synced: bool = False) -> None:
        stream = system.create(path, False)
        # Not closed when this fails: closing makes the file visible.
        stream.write(bytearray(content))
        if synced:
            stream.hsync()
        stream.close()

    def _hidden(self, path: Any) -> Any:
        name = f".{path.getName()}.{uuid.uuid4().hex}"
        return self._java.org.apache.hadoop.fs.Path(path.getParent(), name)

    def _promised(self, place: str) -> str:
        """Return how files are created there. Raise OutputError where it is not safe."""
        promises = promises_of(place)
        if promises.creates_by is None:
            raise _refused(place, "two writers of one file can both succeed")
        if scheme_of(place) == "viewfs" and not promises_of(self._behind(place)).moves_folders:
            raise _refused(place, f"mounts {self._behind(place)}, where a rename is not atomic")
        if promises.provided:
            with java_failures(place):
                path, system = self._at(place)
                if not system.hasPathCapability(path, promises.provided):
                    raise _refused(place, f"is only safe if {promises.if_only}")
        return promises.creates_by

    def _behind(self, place: str) -> str:
        """Resolve a mounted place, or its nearest parent that exists."""
        with java_failures(place):
            path, system = self._at(place)
            while not system.exists(path) and path.getParent() is not None:
                path = path.getParent()
            return str(system.resolvePath(path).toString())

    def _at(self, place: str) -> tuple[Any, Any]:
        """Return the path and its file system, as Java objects."""
        path = self._java.org.apache.hadoop.fs.Path(place)
        try:
            return path, path.getFileSystem(self._conf)
        except Py4JJavaError as error:
            message = str(error.java_exception.toString())
            if not any(name in message for name in NO_DRIVER):
                raise
            package = promises_of(place).package or "the package of its driver"
            raise OutputError(
                f"Spark has no file system for {scheme_of(place)}: URLs, such as {place}",
                f'write "spark.jars.packages" = "{package}" in [spark.conf] of tidegate.toml',
            ) from error

    def _context(self, path: Any) -> Any:
        return self._java.org.apache.hadoop.fs.FileContext.getFileContext(path.toUri(), self._conf)

    def _options(self, *names: str) -> Any:
        rename = self._java.org.apache.hadoop.fs.Options.Rename
        gateway: Any = self._spark().sparkContext._gateway
        array = gateway.new_array(rename, len(names))
        for number, name in enumerate(names):
            array[number] = getattr(rename, name)
        return array

    @property
    def _java(self) -> Any:
        return java_classes(self._spark())

    @property
    def _conf(self) -> Any:
        context: Any = self._spark().sparkContext
        return context._jsc.hadoopConfiguration()


@contextmanager
def java_failures(place: str) -> Iterator[None]:
    """Convert Java exceptions to those of Python's file functions."""
    try:
        yield
    except Py4JJavaError as error:
        message = str(error.java_exception.toString())
        if _class(error) in MISSING:
            raise FileNotFoundError(errno.ENOENT, message, place) from error
        if _class(error) in TAKEN:
            raise FileExistsError(errno.EEXIST, message, place) from error
        raise OSError(errno.EIO, message, place) from error
    except Py4JError as error:
        raise OSError(errno.EIO, f"the JVM of Spark: {error}", place) from error


def _class(error: Py4JJavaError) -> str:
    return str(error.java_exception.getClass().getName())


def _refused(place: str, fault: str) -> OutputError:
    return OutputError(
        f"tables of format parquet cannot be published to {place}: {scheme_of(place)}: {fault}",
        "write format: iceberg in the dataset's declaration, with a catalog that compares and swaps "
        "([iceberg.catalog] type = rest, jdbc, hive or glue), or set [warehouse] path to another store",
    )


def _entry(status: Any) -> Entry:
    name, is_folder = str(status.getPath().getName()), bool(status.isDirectory())
    if is_folder:
        return Entry(name=name, size=0, modified_ms=0, is_folder=True)
    return Entry(
        name=name, size=int(status.getLen()), modified_ms=int(status.getModificationTime()), is_folder=False
    )
