"""Calls a method on each element of a Java list, in a few calls into the JVM however many elements there are.

    files ──Footer.getParquetMetadata──► metadata ──ParquetMetadata.getBlocks──► blocks ──► texts of Python

Java itself goes through the list: `replaceAll` and `forEach` take a functional interface, which
`MethodHandleProxies` makes of any public method. Nothing is compiled, and no class of ours is needed there.
A method is looked up once for each JVM.
"""

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from tidegate.spark_jobs.java.jvm import java_classes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from pyspark.sql import SparkSession

BETWEEN = "\0"
"""Separates texts that come from Java in one call."""

FEW = 2
"""Up to so many elements are asked one by one, as the functions that go through a list cost more."""


class Method(NamedTuple):
    """A public method of each element.

    Attributes:
        of: the name of a public class or interface which has it.
        name: its own name.
        takes: the classes of its arguments, by name; "int" is the only one of a primitive type.
        values: the arguments; a class is given by its name.
    """

    of: str
    name: str
    takes: tuple[str, ...] = ()
    values: tuple[str | int, ...] = ()


class MethodOf(NamedTuple):
    """A method of one object that takes an element as its only argument.

    Attributes:
        target: the object.
        method: the method, without values.
    """

    target: Any
    method: Method


class _Known:
    """What is looked up once for each JVM."""

    def __init__(self, java: Any, gateway: Any) -> None:
        self._java = java
        self._gateway = gateway
        self.handles: dict[Method, Any] = {}
        self.functions: dict[Method, Any] = {}
        self.classes: dict[str, Any] = {}
        self.proxies: Any = java.java.lang.invoke.MethodHandleProxies

    @cached_property
    def none(self) -> Any:
        """The classes of no arguments."""
        return self._gateway.new_array(self._java.java.lang.Class, 0)

    @cached_property
    def lookup(self) -> Any:
        return self._java.java.lang.invoke.MethodHandles.publicLookup()

    @cached_property
    def operator(self) -> Any:
        return self._java.java.util.function.UnaryOperator._java_lang_class

    @cached_property
    def transformer(self) -> Any:
        return self._java.org.apache.commons.collections4.Transformer._java_lang_class

    @cached_property
    def consumer(self) -> Any:
        return self._java.java.util.function.Consumer._java_lang_class


_known: WeakKeyDictionary[Any, _Known] = WeakKeyDictionary()


class Elements:
    """What is done with the elements of lists in the JVM of one session."""

    def __init__(self, spark: "SparkSession") -> None:
        self._gateway: Any = spark.sparkContext._gateway
        self._java: Any = java_classes(spark)
        known = _known.get(self._gateway)
        if known is None:
            known = _known[self._gateway] = _Known(self._java, self._gateway)
        self._of_jvm = known

    def each(self, found: Any, *methods: Method | MethodOf) -> Any:
        """Return a new Java list of what a chain of methods returns for each element."""
        made = self._java.java.util.ArrayList(found)
        for method in methods:
            function = self._function(method, made)
            if function is not None:
                made.replaceAll(function)
        return made

    def texts(self, found: Any, *methods: Method | MethodOf) -> tuple[str, ...]:
        """Return the same as texts without NUL; null is an empty text."""
        return self.columns(found, methods)[0]

    def columns(self, found: Any, *chains: "Sequence[Method | MethodOf]") -> list[tuple[str, ...]]:
        """Return, for each chain of methods, what it returns for each element as texts; see `texts`."""
        few = self._few(found)
        if few is not None:
            return [tuple(_text(self._called(chain, one)) for one in few) for chain in chains]
        made = self.each(found, *chains[0])
        for chain in chains[1:]:
            made.addAll(self.each(found, *chain))
        joined = str(self._java.org.apache.commons.lang3.StringUtils.join(made, BETWEEN))
        texts = joined.split(BETWEEN)
        rows = len(texts) // len(chains)
        return [tuple(texts[number * rows : (number + 1) * rows]) for number in range(len(chains))]

    def chosen(self, found: Any, method: Method, texts: "Collection[str]") -> Any:
        """Return a new Java list of the elements whose method returns one of these texts, none empty."""
        from py4j.java_gateway import get_method

        known, java = self._of_jvm, self._java
        made = java.java.util.LinkedHashMap()
        if found.size():
            handle = self._given(method, self._handle(method, lambda: found.get(0)))
            key = known.proxies.asInterfaceInstance(known.transformer, handle)
            java.org.apache.commons.collections4.MapUtils.populateMap(made, found, key)
        made.keySet().retainAll(java.java.util.HashSet(self.list_of(texts)))
        # Python has a `values` of its own, which asks for one after the other.
        return java.java.util.ArrayList(get_method(made, "values")())

    def list_of(self, texts: "Iterable[str]") -> Any:
        """Return texts as a Java list; see `array_of`."""
        return self.listed(self.array_of(texts))

    def array_of(self, texts: "Iterable[str]") -> Any:
        """Return texts without NUL as a Java array; a single empty text is an empty array."""
        split = self._java.org.apache.commons.lang3.StringUtils.splitPreserveAllTokens
        return split(BETWEEN.join(texts), BETWEEN)

    def listed(self, array: Any) -> Any:
        """Return the elements of a Java array as a list."""
        # Py4J passes such an array only to a method that takes any object.
        collections = self._java.org.apache.commons.collections4
        return collections.IteratorUtils.toList(collections.iterators.ArrayIterator(array))

    def joined(self, lists: Any) -> Any:
        """Return the elements of all lists of a Java list as one list."""
        made = self._java.java.util.ArrayList()
        self.give(lists, MethodOf(made, Method("java.util.Collection", "addAll", ("java.util.Collection",))))
        return made

    def give(self, found: Any, taking: MethodOf) -> None:
        """Call a method of one object with each element of a Java list."""
        few = self._few(found)
        if few is not None:
            for one in few:
                self._called([taking], one)
            return
        known = self._of_jvm
        found.forEach(known.proxies.asInterfaceInstance(known.consumer, self._bound(taking)))

    def _few(self, found: Any) -> "list[Any] | None":
        """Return the elements of a list with few of them, whose methods are called one by one."""
        size = found.size()
        return [found.get(number) for number in range(size)] if size <= FEW else None

    def _called(self, chain: "Sequence[Method | MethodOf]", element: Any) -> Any:
        for method in chain:
            if isinstance(method, MethodOf):
                element = getattr(method.target, method.method.name)(element)
            else:
                element = getattr(element, method.name)(*self._arguments(method))
        return element

    def _arguments(self, method: Method) -> "Iterator[Any]":
        known, lang = self._of_jvm, self._java.java.lang
        for kind, value in zip(method.takes, method.values, strict=True):
            if kind == "java.lang.Class" and isinstance(value, str):
                if value not in known.classes:
                    known.classes[value] = lang.Class.forName(value)
                yield known.classes[value]
            else:
                yield value

    def _function(self, method: Method | MethodOf, found: Any) -> Any | None:
        """Return what Java calls with each element; None where there is none of an unknown class."""
        known = self._of_jvm
        if isinstance(method, MethodOf):
            return known.proxies.asInterfaceInstance(known.operator, self._bound(method))
        function = known.functions.get(method)
        if function is None and found.size():
            handle = self._given(method, self._handle(method, lambda: found.get(0)))
            function = known.functions[method] = known.proxies.asInterfaceInstance(known.operator, handle)
        return function

    def _bound(self, taking: MethodOf) -> Any:
        known = self._of_jvm
        handle = known.handles.get(taking.method)
        if handle is None:
            handle = known.handles[taking.method] = self._handle(taking.method, lambda: taking.target)
        return handle.bindTo(taking.target)

    def _given(self, method: Method, handle: Any) -> Any:
        """Return a handle with the arguments of a method."""
        if not method.takes:
            return handle
        lang = self._java.java.lang
        values = self._gateway.new_array(lang.Object, len(method.values))
        for number, value in enumerate(self._arguments(method)):
            values[number] = value
        return lang.invoke.MethodHandles.insertArguments(handle, 1, values)

    def _handle(self, method: Method, having: "Callable[[], Any]") -> Any:
        """Return a handle of a method.

        Args:
            having: returns an object that has it.
        """
        known, lang = self._of_jvm, self._java.java.lang
        of = known.classes.get(method.of)
        if of is None:
            # Where Spark has loaded a jar by itself, Java's own class loader does not know its classes.
            loader = having().getClass().getClassLoader()
            of = known.classes[method.of] = lang.Class.forName(method.of, True, loader)
        takes = known.none
        if method.takes:
            loader, takes = of.getClassLoader(), self._gateway.new_array(lang.Class, len(method.takes))
            for number, name in enumerate(method.takes):
                takes[number] = lang.Integer.TYPE if name == "int" else lang.Class.forName(name, True, loader)
        return known.lookup.unreflect(of.getMethod(method.name, takes))


def _text(value: Any) -> str:
    return "" if value is None else str(value)
