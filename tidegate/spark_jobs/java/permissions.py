"""Lets the JVM set the permissions of the local files that it writes, without a process for each of them.

Hadoop's local file system starts a `chmod` for each folder and file that it makes, and for each checksum,
where its native library is not installed, as with PySpark. Of a write of many small files that is nearly all
of the time. Here the same permissions are set by Java itself (ADR 74), only while a block of ours writes:
what a program writes is left to Hadoop. Files that executors write in JVMs of their own are too.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast
from weakref import WeakKeyDictionary

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tidegate.domain.spark_conf import is_one_process
from tidegate.spark_jobs.java.jvm import java_classes

MANY = 16
"""So many files are worth the class, which costs the processor a sixth of a second in a new JVM."""

NAME = "tidegate.LocalFiles"
SOURCE = """
package tidegate;

import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

public class LocalFiles extends org.apache.hadoop.fs.RawLocalFileSystem {
    public void setPermission(
            org.apache.hadoop.fs.Path place, org.apache.hadoop.fs.permission.FsPermission permission)
            throws java.io.IOException {
        LinkOption[] follow = new LinkOption[0];
        try {
            Path path = pathToFile(place).toPath();
            int before = ((Integer) Files.getAttribute(path, "unix:mode", follow)).intValue() & 07777;
            // As `chmod` does with four digits: a folder keeps the bits that give its group to what is in it.
            int mode = permission.toShort() | (Files.isDirectory(path, follow) ? before & 06000 : 0);
            if (mode != before) {
                Files.setAttribute(path, "unix:mode", Integer.valueOf(mode), follow);
            }
        } catch (IllegalArgumentException e) {
            // A name that Java cannot write in the language of this process.
            super.setPermission(place, permission);
        } catch (UnsupportedOperationException e) {
            super.setPermission(place, permission);
        }
    }
}
"""
HADOOPS = "org.apache.hadoop.fs.RawLocalFileSystem"

log = logging.getLogger(__name__)


class _LocalFileSystem:
    """The local file system of one JVM, which all its threads share.

    Attributes:
        has_written: whether a block of few files has been left to Hadoop.
    """

    def __init__(self) -> None:
        self.has_written = False
        self._lock = threading.Lock()
        self._blocks = 0
        self._parts: tuple[Any, Any, Any, Any] | None = None
        self._is_made = False

    def is_ready(self, spark: SparkSession, files: int) -> bool:
        """Return whether a block with so many files goes without `chmod`; see `permissions_by_java`."""
        with self._lock:
            if not self._is_made and files:
                if files < MANY and not self.has_written:
                    self.has_written = True
                    return False
                self._is_made = True
                try:
                    self._parts = _made(spark)
                except (Py4JError, PySparkException) as error:
                    log.info("files of this machine are written with a chmod for each: %s", error)
            return self._parts is not None

    @contextmanager
    def used(self) -> Iterator[None]:
        """Have our way of setting permissions while a block runs, which may overlap others."""
        with self._lock:
            self._blocks += 1
            if self._blocks == 1:
                self._switch(ours=True)
        try:
            yield
        finally:
            with self._lock:
                self._blocks -= 1
                if not self._blocks:
                    self._switch(ours=False)

    def _switch(self, *, ours: bool) -> None:
        assert self._parts is not None
        system, field, hadoops, made = self._parts
        # The JVM may have ended, which what the block does says in its own way.
        with suppress(Py4JError, OSError):
            field.set(system, made if ours else hadoops)


_of_jvm: WeakKeyDictionary[Any, _LocalFileSystem] = WeakKeyDictionary()


@contextmanager
def permissions_by_java(spark: SparkSession, files: int = 0) -> Iterator[None]:
    """Write files of this machine without `chmod` while a block runs, with the same permissions.

    Args:
        files: how many are written there at least; 0 if that is unknown. The first few of a JVM are not worth
            the class.
    """
    context: Any = spark.sparkContext
    known = _of_jvm.setdefault(context._gateway, _LocalFileSystem())
    if is_one_process(context.master) and known.is_ready(spark, files):
        with known.used():
            yield
    else:
        yield


def _made(spark: SparkSession) -> tuple[Any, Any, Any, Any] | None:
    """Return the local file system, its field for what works under its checksums, Hadoop's value, and ours.

    Returns:
        None where Hadoop starts no `chmod`, or where another file system has taken its place.
    """
    java, context = java_classes(spark), cast(Any, spark.sparkContext)
    conf = context._jsc.hadoopConfiguration()
    hadoop = java.org.apache.hadoop
    system = hadoop.fs.FileSystem.getLocal(conf)
    hadoops = system.getRaw()
    if hadoops.getClass().getName() != HADOOPS or hadoop.io.nativeio.NativeIO.isAvailable():
        return None
    compiler = java.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(hadoops.getClass().getClassLoader())
    compiler.cook(SOURCE)
    kind = compiler.getClassLoader().loadClass(NAME)
    made = hadoop.util.ReflectionUtils.newInstance(kind, conf)
    made.initialize(hadoops.getUri(), conf)
    field = hadoop.fs.FilterFileSystem._java_lang_class.getDeclaredField("fs")
    field.setAccessible(True)
    return system, field, hadoops, made
