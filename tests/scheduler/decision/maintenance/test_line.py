"""How long the turn of an operation waits for a measurement of its table."""

from datetime import time

import pytest

from tests.worlds.operations import HOUR, asked, health, plan, table, when
from tests.worlds.world import at
from tidegate.domain.model.constraint import WindowConstraint
from tidegate.scheduler.decision.maintenance.judge import judge
from tidegate.scheduler.model.reason import Reason

NOT_MEASURED = table()
FAILED = table(health=health("09:58", "no"))
IN_ITS_WINDOW = plan(window=WindowConstraint(from_=time(9), to=time(10, 1)))


def unranked(of=None, on=NOT_MEASURED, reason=None, next_poll="10:01"):
    return judge(asked(of, on, reason=reason and Reason(reason), next_poll=next_poll), at("10:00")).unranked


@pytest.mark.parametrize(
    ("sentence", "what", "waits"),
    [
        ("the poll asks for a measurement", {}, True),
        ("it was asked for lately", {"on": table(wanted_at=at("09:56"))}, True),
        ("for five minutes and no longer", {"on": table(wanted_at=at("09:55:59"))}, False),
        ("where polls are rarer, not at all", {"next_poll": "10:10"}, False),
        ("a measure of the last minutes counts", {"on": table(health=health("09:58"))}, False),
        ("one that was measured long ago is measured again", {"on": table(health=health("09:00"))}, True),
        ("a catalog that cannot be measured holds nothing back", {"on": FAILED}, False),
        ("however long ago that was", {"on": table(health=health("08:00", "no"))}, False),
        ("measured, and written before the poll: it has waited", {"reason": "M-HEALTH"}, False),
        ("so has one in line that was written", {"reason": "M-BUDGET"}, False),
        ("in line it is measured again", {"reason": "M-BUDGET", "on": table(health=health("09:00"))}, True),
        ("for a slot too", {"reason": "W-CONCURRENCY", "on": table(health=health("09:00"))}, True),
        ("one that is forced waits for no measure", {"of": plan(when=when(at_latest=HOUR))}, False),
        ("nor one whose window would close", {"of": IN_ITS_WINDOW}, False),
        ("one that waits for thresholds has no turn", {"of": plan(when=when(snapshots=9))}, False),
    ],
)  # fmt: skip
def test_a_turn_waits_for_a_measurement_that_comes_soon(sentence, what, waits):
    assert unranked(**what) is waits, sentence
