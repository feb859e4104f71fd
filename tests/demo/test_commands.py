"""What `tidegate demo` refuses before it starts anything."""

from pathlib import Path

import pytest

from tidegate.demo.commands import demo
from tidegate.domain.error import UserError
from tidegate.spark_jobs.iceberg.catalog import runtime
from tidegate.spark_jobs.iceberg.catalog.runtime import InstalledSpark


def test_a_spark_without_a_runtime_of_iceberg_is_refused_with_what_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The runtime that may be installed is for Spark 3.5.
    monkeypatch.setattr(runtime, "installed_spark", lambda: InstalledSpark(version="4.3.0", scala="2.13"))
    with pytest.raises(UserError) as refused:
        demo(days=1, first="2013-12-22", seed=0, keep=tmp_path / "demo")
    assert "no runtime of it here for Spark 4.3.0 with Scala 2.13" in refused.value.message
    assert "pip install 'tidegate[example]'" in refused.value.hint
    assert "`tidegate init` makes a project whose tables are Parquet" in refused.value.hint
    assert not (tmp_path / "demo").exists()
