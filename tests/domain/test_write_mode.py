"""How a dataset is written where its YAML does not say so."""

import pytest

from tidegate.domain.model import Dataset, PartitionScheme, TimeDimension

DAYS = PartitionScheme(time=TimeDimension(name="day", cycle="day", start="2013-01-01"))


@pytest.mark.parametrize(
    ("dataset", "mode"),
    [
        (Dataset(name="d"), "full"),
        (Dataset(name="d", partitions=DAYS), "overwrite_partitions"),
        (Dataset(name="d", partitions=DAYS, format="iceberg", write="append"), "append"),
    ],
    ids=["a whole one is replaced", "partitions are replaced", "what is said holds"],
)
def test_the_mode_that_holds(dataset: Dataset, mode: str) -> None:
    assert dataset.write_mode() == mode
