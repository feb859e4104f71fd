"""Each constraint alone and several together: does a job that became ready at ten run, wait or go?"""

import pytest

from tests.worlds.partition_at_ten import SUCCESS, arrived, busy
from tests.worlds.world import at

FAILURE = [("08:50", "q", "started", "old"), ("09:45", "q", "failed", "old")]
CANCELLED = [("08:50", "q", "started", "old"), ("09:45", "q", "cancelled", "old")]
W_RATE = ("PENDING_CONSTRAINT", "W-RATE")

ONE = [
    ("nothing holds it back", "[]", (), "PENDING_LAUNCH", None, None),
    ("a delay from the trigger", "[{delay: 10m}]", (), "PENDING_CONSTRAINT", "W-DELAY", "10:10"),
    (
        "a closed window",
        '[{window: {from: "22:00", to: "06:00"}}]',
        (),
        "PENDING_CONSTRAINT",
        "W-WINDOW",
        "22:00",
    ),
    ("an open window", '[{window: {from: "06:00", to: "22:00"}}]', (), "PENDING_LAUNCH", None, None),
    ("no run before", "[{since_last_run: {for: 30m}}]", (), "PENDING_LAUNCH", None, None),
    (
        "a success 15 minutes ago",
        "[{since_last_run: {for: 30m}}]",
        SUCCESS,
        "PENDING_CONSTRAINT",
        "W-LAST-RUN",
        "10:15",
    ),
    (
        "exactly `for` after the end is enough",
        "[{since_last_run: {for: 15m}}]",
        SUCCESS,
        "PENDING_LAUNCH",
        None,
        None,
    ),
    (
        "measured from its start",
        "[{since_last_run: {for: 30m, measured_from: start}}]",
        SUCCESS,
        "PENDING_LAUNCH",
        None,
        None,
    ),
    ("a failed run does not count", "[{since_last_run: {for: 30m}}]", FAILURE, "PENDING_LAUNCH", None, None),
    (
        "a cancelled run does not count",
        "[{since_last_run: {for: 30m}}]",
        CANCELLED,
        "PENDING_LAUNCH",
        None,
        None,
    ),
    (
        "an active run is unmet",
        "[{since_last_run: {for: 30m}}]",
        [busy()],
        "PENDING_CONSTRAINT",
        "W-LAST-RUN",
        None,
    ),
    (
        "another program's run does not matter",
        "[{since_last_run: {for: 30m}}]",
        [busy(program="r")],
        "PENDING_LAUNCH",
        None,
        None,
    ),
    (
        "a manual run takes the slot",
        "[{concurrency: {max: 1}}]",
        [busy()],
        "PENDING_CONSTRAINT",
        "W-CONCURRENCY",
        None,
    ),
    ("one of two slots", "[{concurrency: {max: 2}}]", [busy()], "PENDING_LAUNCH", None, None),
    (
        "a manual run counts in its program's groups",
        "[{concurrency: {max: 1, group: g}}]",
        [busy()],
        "PENDING_CONSTRAINT",
        "W-CONCURRENCY",
        None,
    ),
    (
        "another program's run is not in the group",
        "[{concurrency: {max: 1, group: g}}]",
        [busy(program="r")],
        "PENDING_LAUNCH",
        None,
        None,
    ),
    (
        "a manual run counts in the rate",
        "[{rate: {max: 1, per: 2h}}]",
        [busy()],
        "PENDING_CONSTRAINT",
        "W-RATE",
        "11:00",
    ),
    ("a rate with room", "[{rate: {max: 2, per: 2h}}]", [busy()], "PENDING_LAUNCH", None, None),
    ("a failed run counts in the rate", "[{rate: {max: 1, per: 2h}}]", FAILURE, *W_RATE, "10:50"),
    ("at exactly `per` it is free", "[{rate: {max: 1, per: 1h}}]", [busy()], "PENDING_LAUNCH", None, None),
    (
        "another program's run is not in the rate",
        "[{rate: {max: 1, per: 2h}}]",
        [busy(program="r")],
        "PENDING_LAUNCH",
        None,
        None,
    ),
    (
        "a run of any program is load",
        "[{load: {max_active_runs: 1}}]",
        [busy(program="r")],
        "PENDING_CONSTRAINT",
        "W-LOAD",
        None,
    ),
    ("the coming run fits", "[{load: {max_active_runs: 2}}]", [busy()], "PENDING_LAUNCH", None, None),
    (
        "an ended run adds nothing to the load",
        "[{load: {max_active_runs: 1}}]",
        SUCCESS,
        "PENDING_LAUNCH",
        None,
        None,
    ),
    ("a gauge that is never reported", "[{load: {gauge: cpu, max: 80}}]", (), "PENDING_LAUNCH", None, None),
    (
        "skip: the rate is used up",
        "[{rate: {max: 1, per: 2h, otherwise: skip}}]",
        [busy()],
        "DISCARDED",
        "D-RATE",
        None,
    ),
    (
        "skip: the load is above its limit",
        "[{load: {max_active_runs: 1, otherwise: skip}}]",
        [busy()],
        "DISCARDED",
        "D-LOAD",
        None,
    ),
    (
        "skip: a closed window",
        '[{window: {from: "22:00", to: "06:00", otherwise: skip}}]',
        (),
        "DISCARDED",
        "D-WINDOW",
        None,
    ),
    (
        "skip: too soon",
        "[{since_last_run: {for: 30m, otherwise: skip}}]",
        SUCCESS,
        "DISCARDED",
        "D-LAST-RUN",
        None,
    ),
    (
        "skip: no slot",
        "[{concurrency: {max: 1, otherwise: skip}}]",
        [busy()],
        "DISCARDED",
        "D-CONCURRENCY",
        None,
    ),
    (
        "skip: a delay that has not passed",
        "[{delay: {for: 10m, otherwise: skip}}, {rate: {max: 1, per: 1h}}]",
        (),
        "DISCARDED",
        "D-DELAY",
        None,
    ),
    (
        "skip is judged only when all that waits holds",
        '[{window: {from: "22:00", to: "06:00", otherwise: skip}}, {delay: 10m}]',
        (),
        "PENDING_CONSTRAINT",
        "W-DELAY",
        "10:10",
    ),
    (
        "of several unmet the first in order is the reason: delay",
        '[{concurrency: {max: 1}}, {window: {from: "22:00", to: "06:00"}}, {delay: 10m}]',
        [busy()],
        "PENDING_CONSTRAINT",
        "W-DELAY",
        "10:10",
    ),
    (
        "of several unmet the first in order is the reason: window",
        '[{concurrency: {max: 1}}, {since_last_run: {for: 1h}}, {window: {from: "22:00", to: "06:00"}}]',
        [busy()],
        "PENDING_CONSTRAINT",
        "W-WINDOW",
        "22:00",
    ),
    (
        "of several unmet the first in order is the reason: last run",
        "[{concurrency: {max: 1}}, {since_last_run: {for: 1h}}]",
        [busy()],
        "PENDING_CONSTRAINT",
        "W-LAST-RUN",
        None,
    ),
    (
        "of several unmet the first in order is the reason: rate",
        "[{concurrency: {max: 1}}, {load: {max_active_runs: 1}}, {rate: {max: 1, per: 2h}}]",
        [busy()],
        "PENDING_CONSTRAINT",
        "W-RATE",
        "11:00",
    ),
    (
        "of several unmet the first in order is the reason: load",
        "[{concurrency: {max: 1}}, {load: {max_active_runs: 1}}]",
        [busy()],
        "PENDING_CONSTRAINT",
        "W-LOAD",
        None,
    ),
    (
        "of several unmet skips the first in order is the reason",
        '[{concurrency: {max: 1, otherwise: skip}}, {window: {from: "22:00", to: "06:00", otherwise: skip}}]',
        [busy()],
        "DISCARDED",
        "D-WINDOW",
        None,
    ),
]


@pytest.mark.parametrize(
    ("sentence", "constraints", "before", "state", "reason", "check"), ONE, ids=[row[0] for row in ONE]
)
def test_a_partition_at_ten(sentence, constraints, before, state, reason, check):
    world = arrived(constraints, rest=", timeout: 100d", before=before)
    assert world.outcome("s") == (state, reason)
    expected = None if check is None else at(check)
    if expected is None and state == "PENDING_CONSTRAINT":
        # only an event or a freed slot helps; time brings nothing but the timeout
        assert world.last("s").next_check_at == at("100d 10:00")
    else:
        assert world.last("s").next_check_at == expected
