"""What all tests share: a temporary project, and which tests must share a worker.

Spark sessions, Dagster instances and the PostgreSQL server are costly to start, so the
tests of each kind run in one worker, where they share one.
"""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SHARED = ("spark", "dagster", "postgres")

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")


@pytest.hookimpl(tryfirst=True)  # before the workers read the marks, which they do in this same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of each costly kind into one group, which `--dist loadgroup` keeps together."""
    for item in items:
        kind = next((kind for kind in SHARED if item.get_closest_marker(kind)), None)
        if kind is not None and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(kind))


@pytest.fixture
def project_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project in a temporary folder, which is also the working folder.

    Nothing of the environment reaches it: neither another project nor another store.
    """
    monkeypatch.delenv("TIDEGATE_PROJECT", raising=False)
    monkeypatch.delenv("TIDEGATE_STORE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tidegate.toml").write_text("")
    (tmp_path / "schedules").mkdir()
    return tmp_path
