"""What all tests share: a temporary project, and how much Hypothesis tries.

Spark sessions, Dagster instances and the PostgreSQL server are costly to start. They live
as long as a worker does, and the workers take whole files (`--dist loadfile`), so that what a
file has built for its tests is built once.
"""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")


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
