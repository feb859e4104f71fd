"""A deployed project in a temporary folder, for the benchmarks that run Dagster on it."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

SETTINGS = '[project]\nname = "bench"\n[spark]\nmaster = "local[1]"\n'


@contextmanager
def deployed_project(apps: Mapping[str, str], dagster: str, files: Mapping[str, str]) -> Generator[Path]:
    """Yield the folder of a new project whose apps are deployed.

    Args:
        apps: their YAML, by name; without any, nothing is deployed.
        dagster: the text of its dagster.yaml.
        files: the text of further files, by name.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "schedules").mkdir()
        (folder / "tidegate.toml").write_text(SETTINGS)
        (folder / "dagster.yaml").write_text(dagster)
        for app, text in apps.items():
            (folder / "schedules" / f"{app}.yaml").write_text(text)
        for file, text in files.items():
            (folder / file).write_text(text)
        if not apps:
            yield folder
            return
        command = [sys.executable, "-m", "tidegate.cli.main", "deploy"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        yield folder


@contextmanager
def dummy_sessions(folder: Path) -> Generator[None]:
    """Let Spark sessions of processes that start inside cost nothing."""
    (folder / "sitecustomize.py").write_text("import tests.doubles.dummy_session\n")
    path = os.pathsep.join((str(folder), *filter(None, (os.environ.get("PYTHONPATH"),))))
    with patch.dict(os.environ, PYTHONPATH=path):
        yield
