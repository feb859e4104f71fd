"""Java's classes by their full names, without a question to the JVM for each part of a name.

With PySpark's `_jvm.org.apache.hadoop.fs.Path`, Python asks for `org`, `org.apache` and so on, and each time
the JVM searches all its jars for a class of that name: a tenth of a small publish was spent on that. Here a
part that begins with a capital letter is a class, as Java's naming conventions have it, and what comes
before it are packages. A class that does not exist fails when it is used. A static method is asked for once.
"""

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from py4j.java_gateway import JavaClass, JavaMember

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class _Class(JavaClass):
    # Its static methods are kept: otherwise Python asks the JVM for one at each access.

    __doc__ = None  # pyright: ignore[reportIncompatibleMethodOverride] -- Py4J's asks Java

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if isinstance(found, JavaMember):
            setattr(self, name, found)
        return found


class Package:
    """A Java package; its attributes are the packages and classes in it."""

    def __init__(self, client: Any, name: str = "") -> None:
        self._client = client
        self._name = name

    def __getattr__(self, part: str) -> Any:
        if part.startswith("_"):
            raise AttributeError(part)
        name = f"{self._name}.{part}" if self._name else part
        found = _Class(name, self._client) if part[0].isupper() else Package(self._client, name)
        # The next access finds the attribute and does not come here.
        setattr(self, part, found)
        return found


_of_gateways: WeakKeyDictionary[Any, Package] = WeakKeyDictionary()


def java_classes(spark: "SparkSession") -> Any:
    """Return the root of all packages of a session's JVM: `java_classes(spark).java.io.File` is a class."""
    gateway: Any = spark.sparkContext._gateway
    found = _of_gateways.get(gateway)
    if found is None:
        found = _of_gateways[gateway] = Package(gateway._gateway_client)
    return found
