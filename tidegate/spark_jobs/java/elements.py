"""Calls a method on each element of a Java list, in a few calls into the JVM however many elements there are.

    files ──Footer.getParquetMetadata──► metadata ──ParquetMetadata.getBlocks──► blocks ──► texts of Python

Java itself goes through the list: `replaceAll` and `forEach` take a functional interface, which
`MethodHandleProxies` makes of any public method. Nothing is compiled, and no class of ours is needed there.
A method is looked up once for each JVM.
"""

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from tidegate.spark_jobs.java.jvm import java_classes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BETWEEN = "\0"
"""Separates texts that come from Java in one call."""

Method = tuple[str, str]
"""The name of a public class or interface, and that of its method."""

_known: WeakKeyDictionary[Any, dict[tuple[Method, str], Any]] = WeakKeyDictionary()


class Elements:
    """What is done with the elements of lists in the JVM of one session."""

    def __init__(self, spark: "SparkSession") -> None:
        self._gateway: Any = spark.sparkContext._gateway
        self._java: Any = java_classes(spark)
        self._functions = _known.setdefault(self._gateway, {})

    def each(self, found: Any, *methods: Method) -> Any:
        """Return a new Java list of what a chain of methods without arguments returns for each element."""
        made = self._java.java.util.ArrayList(found)
        for method in methods if made.size() else ():
            made.replaceAll(self._function(method, made))
        return made

    def texts(self, found: Any, *methods: Method) -> tuple[str, ...]:
        """Return the same as texts, none of which is null or has NUL."""
        made = self.each(found, *methods)
        joined = str(self._java.org.apache.commons.lang3.StringUtils.join(made, BETWEEN))
        # One empty text and no text are joined alike.
        return tuple(joined.split(BETWEEN)) if joined or made.size() else ()

    def joined(self, lists: Any) -> Any:
        """Return the elements of all lists of a Java list as one list."""
        made = self._java.java.util.ArrayList()
        self.give(lists, made, ("java.util.Collection", "addAll"), "java.util.Collection")
        return made

    def give(self, found: Any, target: Any, method: Method, takes: str) -> None:
        """Call a method of one object with each element of a Java list.

        Args:
            takes: the class or interface of the method's only argument.
        """
        handle = self._functions.get((method, takes))
        if handle is None:
            handle = self._functions[method, takes] = self._handle(method, target, takes)
        consumer = self._java.java.util.function.Consumer._java_lang_class
        found.forEach(self._proxies.asInterfaceInstance(consumer, handle.bindTo(target)))

    def _function(self, method: Method, found: Any) -> Any:
        known = self._functions.get((method, ""))
        if known is None:
            operator = self._java.java.util.function.UnaryOperator._java_lang_class
            known = self._proxies.asInterfaceInstance(operator, self._handle(method, found.get(0)))
            self._functions[method, ""] = known
        return known

    def _handle(self, method: Method, of: Any, takes: str = "") -> Any:
        """Return a handle of a method that an object has."""
        # Where Spark has loaded a jar by itself, Java's own class loader does not know its classes.
        loader, kind = of.getClass().getClassLoader(), self._java.java.lang.Class
        given = self._gateway.new_array(kind, 1 if takes else 0)
        if takes:
            given[0] = kind.forName(takes, True, loader)
        found = kind.forName(method[0], True, loader).getMethod(method[1], given)
        return self._java.java.lang.invoke.MethodHandles.publicLookup().unreflect(found)

    @property
    def _proxies(self) -> Any:
        return self._java.java.lang.invoke.MethodHandleProxies
