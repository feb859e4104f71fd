"""Random crons and tasks in several zones: each run writes the date that its fire names."""

import pytest

from tests.effort import much
from tests.simulation.dates.world import history
from tests.tally import reach

FEW = 12


SOME = (*range(FEW), 6541)
"""The last one has a fire that a clock change moves past midnight."""


@pytest.mark.parametrize("seed", SOME)
def test_every_run_writes_the_date_of_its_fire(seed: int) -> None:
    assert history(seed) > 0


@pytest.mark.soak
def test_many_histories_write_the_dates_of_their_fires() -> None:
    reach("launches whose date was judged", sum(history(seed) for seed in range(FEW, FEW + much(100))))
