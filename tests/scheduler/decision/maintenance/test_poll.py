"""What one poll starts: the order across tables and within one, budgets, slots and partitions in use."""

import pytest

from tests.worlds.operations import (
    EXPIRE,
    MANIFESTS,
    ORPHANS,
    REWRITE,
    judged,
    plan,
    table,
)
from tests.worlds.world import at
from tidegate.domain.model import Budget, Maintenance
from tidegate.scheduler.decision.maintenance.poll import Busy, Spent, decide_poll


class Poll:
    """A poll at ten o'clock; the next one is a minute later."""

    def __init__(self, *, spent=None, slots=None, clock="10:00", start=True, **budget):
        self.judged, self.debts, self.busy = [], {}, {}
        self.spent, self.slots, self.clock, self.start = spent or Spent(), slots or {}, clock, start
        self.settings = Maintenance(budget=Budget(**budget))

    def due(self, name, *operations, debt=None, forced=(), busy=None, held=(), unranked=False, before=None):
        for operation in operations or (REWRITE,):
            on = table(name, dataset=name if busy else None)
            found = judged(self.clock, plan(operation), on, reason=before)
            reason = "M-CONDITION" if operation in held else None
            self.judged.append(
                type(found)(
                    asked=found.asked, due=True, reason=reason, next=found.next, look=found.look,
                    forced=operation in forced, unranked=unranked,
                )
            )  # fmt: skip
        if debt is not None:
            self.debts[name] = debt
        if busy is not None:
            self.busy[name] = busy
        return self

    def not_due(self, name):
        self.judged.append(judged(self.clock, on=table(name), next_run=at("12:00")))
        return self

    def decide(self):
        return decide_poll(
            self.judged, self.debts, self.busy, self.spent, self.slots, self.settings, at(self.clock),
            start=self.start,
        )  # fmt: skip

    def starts(self):
        return [named(each) for each in self.decide() if each.starts]

    def waits(self):
        return {
            named(each): (each.judged.reason, each.judged.next, each.judged.look)
            for each in self.decide()
            if not each.starts
        }


def named(polled):
    record = polled.judged.asked.record
    operation = {REWRITE: "", EXPIRE: " expire", MANIFESTS: " manifests", ORPHANS: " orphans"}
    return record.table + operation[record.operation]


SOON = at("10:01")

# --- order --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "poll", "expected"),
    [
        ("debt falls", Poll().due("a", debt=1).due("b", debt=3).due("c", debt=2), ["b", "c", "a"]),
        ("then the full name", Poll().due("w.b.x").due("a/x").due("w.a.x"), ["a/x", "w.a.x", "w.b.x"]),
        ("unknown debt is none", Poll().due("a").due("b", debt=0.5), ["b", "a"]),
        ("forced first", Poll().due("a", debt=9).due("b", forced=[REWRITE]), ["b", "a"]),
        (
            "then by debt among them",
            Poll().due("a", forced=[REWRITE]).due("b", debt=1, forced=[REWRITE]).due("c", debt=9),
            ["b", "a", "c"],
        ),
        (
            "a forced expire behind a due rewrite does not lift the table",
            Poll().due("a").due("z", EXPIRE, REWRITE, forced=[EXPIRE]),
            ["a", "z"],
        ),
        (
            "but it does where the rewrite waits for something",
            Poll().due("a").due("z", EXPIRE, REWRITE, forced=[EXPIRE], held=[REWRITE]),
            ["z expire", "a"],
        ),
    ],
)
def test_the_order_of_starts(sentence, poll, expected):
    assert poll.starts() == expected, sentence


def test_where_not_all_can_start_those_come_last_whose_debt_will_be_known():
    poll = Poll(tables_per_poll=2).due("a", REWRITE, EXPIRE, unranked=True).due("b", debt=1).due("c")
    assert poll.starts() == ["b", "c"]
    assert poll.waits() == {"a": ("M-BUDGET", SOON, SOON), "a expire": ("M-BUDGET", SOON, None)}


@pytest.mark.parametrize(
    "limit", [{"tables_per_poll": 2}, {"operations_per_poll": 2}, {"slots": {"spark": 2}}]
)
def test_what_they_could_have_is_left_to_the_next_poll(limit):
    poll = Poll(**limit).due("a", REWRITE, EXPIRE, unranked=True).due("b", debt=1).due("c", unranked=True)
    assert poll.starts() == ["b"]
    assert poll.waits() == dict.fromkeys(["a", "a expire", "c"], ("M-HEALTH", SOON, SOON))


def test_what_was_in_line_is_in_it_while_it_is_measured_again():
    poll = Poll(tables_per_poll=1).due("a", REWRITE, EXPIRE, unranked=True, before="M-BUDGET")
    poll.due("b", unranked=True, before="W-CONCURRENCY")
    assert poll.starts() == []
    assert poll.waits() == {
        "a": ("M-BUDGET", SOON, SOON),
        "a expire": ("M-BUDGET", SOON, None),
        "b": ("W-CONCURRENCY", None, SOON),
    }


def test_an_operation_that_comes_before_others_in_line_is_in_it_with_them():
    poll = Poll(tables_per_poll=1).due("a", EXPIRE, unranked=True, before="M-BUDGET").due("b", unranked=True)
    assert poll.due("a", REWRITE, unranked=True).waits() == {
        "a": ("M-BUDGET", SOON, SOON),
        "a expire": ("M-BUDGET", SOON, None),
        "b": ("M-HEALTH", SOON, SOON),
    }


def test_where_all_can_start_the_order_waits_for_nothing():
    assert Poll(tables_per_poll=2).due("a", unranked=True).due("b", unranked=True).starts() == ["a", "b"]
    assert Poll().due("a", unranked=True).due("b", debt=1).starts() == ["b", "a"]


def test_a_table_starts_one_operation_in_the_order_of_operations():
    poll = Poll().due("a", ORPHANS, EXPIRE, MANIFESTS, REWRITE)
    assert poll.starts() == ["a"]
    assert poll.waits() == dict.fromkeys(["a manifests", "a expire", "a orphans"], ("M-TABLE", None, None))
    assert Poll().due("a", ORPHANS, EXPIRE).starts() == ["a expire"]


def test_what_is_not_due_stays_as_it_was_judged():
    assert Poll().not_due("a").waits() == {"a": (None, at("12:00"), at("12:00"))}
    assert Poll().due("a", held=[REWRITE]).waits() == {"a": ("M-CONDITION", SOON, SOON)}


# --- partitions in use --------------------------------------------------------------------


def test_a_rewrite_leaves_out_what_pipelines_write_and_waits_where_nothing_is_left():
    some, everything = Busy(keys=("k",), free=True, jobs=("j",)), Busy(keys=("k",), free=False, jobs=("j",))
    (started,) = Poll().due("a/d", busy=some).decide()
    assert (started.starts, started.busy) == (True, some)
    assert Poll().due("a/d", busy=everything).waits() == {"a/d": ("M-BUSY", None, SOON)}
    assert Poll().due("a/d", EXPIRE, busy=everything).starts() == ["a/d expire"]
    assert Poll().due("a/d", EXPIRE, REWRITE, busy=everything).starts() == ["a/d expire"]


def test_what_is_busy_uses_no_budget():
    everything = Busy(keys=("k",), free=False)
    poll = Poll(tables_per_poll=1, operations_per_poll=1).due("a/d", busy=everything, debt=9).due("b")
    assert poll.starts() == ["b"]


def test_a_reason_before_it_is_named_first():
    poll = Poll().due("a/d", busy=Busy(keys=("k",), free=False), held=[REWRITE])
    assert poll.waits()["a/d"][0] == "M-CONDITION"


# --- budgets ------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", ["tables_per_poll", "operations_per_poll"])
def test_a_poll_starts_no_more_than_its_budget(budget):
    poll = Poll(**{budget: 2}).due("a").due("b", debt=1).due("c", REWRITE, EXPIRE).due("d")
    assert poll.starts() == ["b", "a"]
    assert poll.waits() == {
        "c": ("M-BUDGET", SOON, SOON),
        # It is looked at again with the one before it.
        "c expire": ("M-BUDGET", SOON, None),
        "d": ("M-BUDGET", SOON, SOON),
    }


@pytest.mark.parametrize(
    ("sentence", "spent", "budget", "starts"),
    [
        ("starts by hand count", Spent(tables=frozenset("x"), operations=1), {"tables_per_poll": 2}, ["a"]),
        ("a table counts once", Spent(tables=frozenset("a"), operations=5), {"tables_per_poll": 1}, ["a"]),
        (
            "each operation counts",
            Spent(tables=frozenset("a"), operations=5),
            {"operations_per_poll": 6},
            ["a"],
        ),
        ("none is left", Spent(tables=frozenset("xy"), operations=2), {"operations_per_poll": 2}, []),
        ("0 is unlimited", Spent(tables=frozenset("xy"), operations=99, bytes=99), {}, ["a", "b"]),
    ],
)
def test_what_was_started_since_the_poll_counts(sentence, spent, budget, starts):
    assert Poll(spent=spent, **budget).due("a").due("b").starts() == starts, sentence


@pytest.mark.parametrize(("rewritten", "starts"), [(0, ["a", "b"]), (499, ["a", "b"]), (500, []), (900, [])])
def test_the_bytes_of_the_hour_stop_all_further_starts(rewritten, starts):
    poll = Poll(spent=Spent(bytes=rewritten), bytes_per_hour=500, clock="10:59").due("a").due("b")
    assert poll.starts() == starts
    if not starts:
        assert poll.waits() == dict.fromkeys("ab", ("M-BUDGET", at("11:00"), at("11:00")))


def test_of_two_budgets_the_one_that_lasts_longer_is_shown():
    spent = Spent(bytes=500, tables=frozenset("x"), operations=1)
    poll = Poll(spent=spent, bytes_per_hour=500, tables_per_poll=1, operations_per_poll=1).due("a")
    assert poll.waits() == {"a": ("M-BUDGET", at("11:00"), at("11:00"))}


# --- slots --------------------------------------------------------------------------------


def test_each_start_takes_a_slot_of_every_pool():
    poll = Poll(slots={"spark": 2, "io": 5}).due("a").due("b").due("c", REWRITE, EXPIRE)
    assert poll.starts() == ["a", "b"]
    assert poll.waits() == {"c": ("W-CONCURRENCY", None, SOON), "c expire": ("W-CONCURRENCY", None, None)}


def test_the_budget_is_named_before_a_slot():
    assert Poll(slots={"spark": 0}, operations_per_poll=1).due("a").waits() == {
        "a": ("W-CONCURRENCY", None, SOON)
    }
    spent = Spent(operations=1, tables=frozenset("x"))
    poll = Poll(slots={"spark": 0}, spent=spent, operations_per_poll=1).due("a")
    assert poll.waits() == {"a": ("M-BUDGET", SOON, SOON)}


# --- without a start ----------------------------------------------------------------------


def test_asked_for_the_state_it_starts_nothing_and_names_what_holds_back():
    poll = Poll(start=False, operations_per_poll=1).due("a", REWRITE, EXPIRE).due("b").not_due("c")
    assert poll.starts() == []
    assert {name: reason for name, (reason, *_) in poll.waits().items()} == dict.fromkeys(
        ["a", "a expire", "b", "c"], None
    )
