"""What Java says of a failure, without its stack trace."""

from py4j.protocol import Py4JError, Py4JJavaError

FAILURE_CHARACTERS = 500
"""How much of a failure is kept: errors of Java contain long stack traces."""


def java_message(error: Py4JError) -> str:
    """Return the message of a failure in the JVM, after the name of its class."""
    if isinstance(error, Py4JJavaError):
        return f"{error.java_exception.getClass().getSimpleName()}: {error.java_exception.getMessage()}"
    return str(error)


def failure_text(error: Exception) -> str:
    """Return a failure as one short text for people."""
    text = java_message(error) if isinstance(error, Py4JError) else str(error)
    return f"{type(error).__name__}: {text}"[:FAILURE_CHARACTERS]
