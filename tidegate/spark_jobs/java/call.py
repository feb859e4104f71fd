"""A call to a Java method that is expected to fail at times, such as the load of a table that is not there.

PySpark makes a Python exception of each Java exception, and for that asks the JVM seventy times what kind of
exception it is; for half of the questions the JVM searches all its jars. Recovering new tables spent two
fifths of the JVM's time on it. Here the exception is Py4J's own, which costs one call.
"""

from typing import Any

from py4j.java_gateway import JavaMember, JavaObject
from py4j.protocol import CALL_COMMAND_NAME, END_COMMAND_PART, get_command_part, get_return_value


def call_java(method: JavaMember, argument: JavaObject) -> Any:
    """Call a Java method with one Java object.

    Raises:
        Py4JJavaError: the method has failed, whatever the kind of failure.
        Py4JError: the JVM does not answer.
    """
    client: Any = method.gateway_client
    command = f"{CALL_COMMAND_NAME}{method.command_header}{get_command_part(argument)}{END_COMMAND_PART}"
    # Not the function of this name in `py4j.java_gateway`, which PySpark has replaced.
    return get_return_value(client.send_command(command), client, method.target_id, method.name)
