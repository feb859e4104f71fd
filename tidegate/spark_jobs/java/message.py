"""What Java says of a failure, without its stack trace."""

from py4j.protocol import Py4JError, Py4JJavaError


def java_message(error: Py4JError) -> str:
    """Return the message of a failure in the JVM, after the name of its class."""
    if isinstance(error, Py4JJavaError):
        return f"{error.java_exception.getClass().getSimpleName()}: {error.java_exception.getMessage()}"
    return str(error)
