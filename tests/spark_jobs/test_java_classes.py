"""Java's classes are named without a question to the JVM."""

from typing import Any

import pytest
from py4j.clientserver import ClientServerConnection
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from tidegate.spark_jobs.java.jvm import java_classes

pytestmark = pytest.mark.spark


def test_a_class_is_made_and_its_static_members_are_called(spark: SparkSession) -> None:
    java = java_classes(spark)

    assert java.java.io.File("/a/b").getName() == "b"
    assert java.java.lang.Integer.parseInt("7") == 7
    assert java.org.apache.hadoop.fs.Options.Rename.OVERWRITE.name() == "OVERWRITE"
    assert java_classes(spark) is java


def test_a_name_costs_no_call(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise AssertionError("the JVM is asked")

    monkeypatch.setattr(ClientServerConnection, "send_command", refused)

    assert java_classes(spark).org.apache.hadoop.fs.Path is java_classes(spark).org.apache.hadoop.fs.Path
    with pytest.raises(AttributeError):
        _ = java_classes(spark)._hidden


def test_a_class_that_does_not_exist_fails_when_it_is_used(spark: SparkSession) -> None:
    missing = java_classes(spark).org.example.Missing

    with pytest.raises(Py4JError, match=r"org\.example\.Missing"):
        missing()
    with pytest.raises(Py4JError, match=r"org\.example\.Missing"):
        missing.of(1)
