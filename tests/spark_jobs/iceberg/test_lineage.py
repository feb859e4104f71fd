"""Which publishes of a log are still part of the table, by the chain of its snapshots."""

import pytest

from tidegate.spark_jobs.iceberg.table.lineage import BEGINNING, EXPIRED, Lineage, Link, Place
from tidegate.spark_jobs.iceberg.table.log import Publish, PublishLog

LOG = PublishLog(
    number=3,
    recent=tuple(Publish(commit=f"c{number}", token=number, snapshot=number) for number in (1, 2, 3)),
)
FOREIGN = 90


@pytest.mark.parametrize(
    ("chain", "kept", "withdrawn", "unknown"),
    [
        pytest.param((3, 2, 1, BEGINNING), "123", "", "", id="all are ancestors"),
        pytest.param((FOREIGN, 3, 2, 1, BEGINNING), "123", "", "", id="another writer came later"),
        pytest.param((2, 1, BEGINNING), "12", "3", "", id="rolled back by one"),
        pytest.param((3, 1, BEGINNING), "13", "2", "", id="rolled back, then published again"),
        pytest.param((1, BEGINNING), "1", "23", "", id="rolled back by two"),
        pytest.param((BEGINNING,), "", "123", "", id="no snapshot"),
        pytest.param((FOREIGN, BEGINNING), "", "123", "", id="replaced by a foreign table"),
        pytest.param((3, EXPIRED), "123", "", "", id="a younger one of ours covers the expired ones"),
        pytest.param((FOREIGN, EXPIRED), "", "", "123", id="nothing shows what was before"),
        pytest.param((FOREIGN, EXPIRED, 91, 3), "123", "", "", id="earlier metadata shows the parent"),
        pytest.param((FOREIGN, EXPIRED, 1), "1", "23", "", id="earlier metadata shows the rollback"),
        pytest.param((FOREIGN, 1, EXPIRED), "1", "23", "", id="rolled back, and the rest expired"),
    ],
)
def test_a_publish_is_kept_when_its_snapshot_is_an_ancestor(
    chain: tuple[Link, ...], kept: str, withdrawn: str, unknown: str
) -> None:
    lineage = Lineage(LOG, chain)
    # Twice: what was read of the chain is kept.
    for _ in range(2):
        places = {one.commit[1:]: lineage.place(one) for one in LOG.recent}
        found = {place: "".join(c for c, p in places.items() if p == place) for place in Place}
        assert found == {Place.KEPT: kept, Place.WITHDRAWN: withdrawn, Place.UNKNOWN: unknown}
