"""What PySpark asks its JVM by name is asked once: each `_jvm.org.apache…` searched all jars, part by part.

A tenth of the driver's time in a test of a few rows went there. The names of one JVM do not change.
"""

from typing import Any

from py4j.java_gateway import JavaPackage, JVMView


def ask_once(kind: type[Any]) -> None:
    """Let the objects of a class of Py4J keep what they have got for a name."""
    asked = kind.__getattr__

    def found(self: Any, name: str) -> Any:
        answer = asked(self, name)
        if not name.startswith("_"):
            # The next access finds the attribute and does not come here.
            vars(self)[name] = answer
        return answer

    kind.__getattr__ = found


def ask_each_once() -> None:
    """Let packages and the view of a JVM do so."""
    for kind in (JVMView, JavaPackage):
        ask_once(kind)
