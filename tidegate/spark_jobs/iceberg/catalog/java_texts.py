"""Texts and collections between Python and Java in a few calls, however many elements they have.

Each call to the JVM costs some fifty microseconds; in a JVM that has just started, many times that.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from py4j.java_collections import JavaList

BETWEEN = "\0"
"""Separates texts that go to Java or come from it in one call. No name, path or partition value has it."""


class JavaTexts:
    """Makes and reads collections of texts in one JVM."""

    def __init__(self, java: Any) -> None:
        """Args:
        java: the root of its packages, from `java_classes`.
        """
        self._java = java
        # On the class path of every Spark.
        self._strings: Any = java.org.apache.commons.lang3.StringUtils
        self._splitter: Any = java.org.apache.iceberg.relocated.com.google.common.base.Splitter

    def array(self, texts: Iterable[str]) -> Any:
        """Return texts, none of them empty, as a Java array."""
        return self._strings.splitPreserveAllTokens(BETWEEN.join(texts), BETWEEN)

    def java_list(self, texts: Iterable[str]) -> Any:
        """Return texts as a Java list."""
        given = tuple(texts)
        if all(given) and given:
            return self._splitter.on(BETWEEN).splitToList(BETWEEN.join(given))
        made = self._java.java.util.ArrayList()
        for text in given:
            made.add(text)
        return made

    def read(self, found: Any) -> tuple[str, ...]:
        """Return the elements of a Java collection as texts. One empty text reads like none."""
        joined = str(self._strings.join(found, BETWEEN))
        return tuple(joined.split(BETWEEN)) if joined else ()


def each(found: Any) -> Iterator[Any]:
    """Yield the elements of a Java collection.

    A `for` loop over the collection itself ends with a Java exception, for which PySpark makes
    dozens of calls to the JVM.
    """
    if isinstance(found, JavaList):
        listed: Any = found
        for number in range(listed.size()):
            yield listed.get(number)
        return
    iterator = found.iterator()
    while iterator.hasNext():
        yield iterator.next()
