"""Limits hold whatever comes: random arrivals, runs by hand and ends of runs, counted by brute force.

The engine decides; this file keeps its own books of what was launched when, from the journal and
from what it did itself, and checks each launch against every limit of its schedule.
"""

from datetime import datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.worlds.world import World, at

SCHEDULES = """
s:
  {program: q, for_each: partition, status: active, timeout: 300d, trigger: {partitions: {dataset: raw}},
  constraints: [{rate: {max: 2, per: 10m}}, {concurrency: {max: 2, group: g}}]}
t:
  {program: r, for_each: partition, status: active, timeout: 300d, priority: low,
  trigger: {partitions: {dataset: raw}},
  constraints: [{concurrency: {max: 1, group: g}}, {load: {max_active_runs: 3}}]}
u:
  {program: q, for_each: partition, status: active, timeout: 300d, priority: high,
  trigger: {partitions: {dataset: other}},
  constraints: [{load: {max_active_runs: 4}}, {rate: {max: 3, per: 5m}}, {concurrency: {max: 3}}]}
"""
PROGRAM = {"a/s": "q", "a/t": "r", "a/u": "q"}
RATES = {"a/s": (2, timedelta(minutes=10)), "a/u": (3, timedelta(minutes=5))}
CONCURRENCY = {"a/u": 3}
GROUP = {"a/s": 2, "a/t": 1}
"""Runs of q by hand are in the group too, since a schedule of q names it (rule 21); u's are not."""
LOAD = {"a/t": 3, "a/u": 4}

DAYS = st.integers(1, 28)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("arrive"), st.sampled_from(("raw", "other")), DAYS),
        st.tuples(st.just("pass"), st.just(""), st.sampled_from((1, 59, 60, 299, 300, 600))),
        st.tuples(st.just("end"), st.just(""), st.integers(0, 5)),
        st.tuples(st.just("by hand"), st.sampled_from(("q", "r")), st.just(0)),
    ),
    max_size=30,
)


class Books:
    """What is active and what was launched, as an outsider counts it."""

    def __init__(self) -> None:
        self.world = World(SCHEDULES)
        self.seconds = 10 * 3600
        self.active: dict[str, tuple[str, bool]] = {}
        """By job or run: its program, and whether it is in the group."""
        self.launched: list[tuple[str, datetime]] = []
        self.read = 0

    @property
    def clock(self) -> str:
        minutes, second = divmod(self.seconds, 60)
        hours, minute = divmod(minutes, 60)
        return f"{hours // 24}d {hours % 24:02}:{minute:02}:{second:02}"

    def do(self, what: str, name: str, number: int) -> None:
        match what:
            case "arrive":
                self.world.arrive(self.clock, name, f"2026-02-{number:02}")
            case "pass":
                self.seconds += number
            case "by hand":
                run = f"hand-{len(self.launched)}"
                self.world.run(self.clock, name, "started", run)
                self.active[run] = (name, True)
                self.launched.append((name, at(self.clock)))
            case _:
                self.end(number)
        self.world.tick(self.clock)
        self.check()

    def end(self, number: int) -> None:
        """Starts all runs that were decided, and ends one of those that are active."""
        self.world.launch_all(self.clock)
        if not self.active:
            return
        one = sorted(self.active)[number % len(self.active)]
        program, _ = self.active.pop(one)
        if one.startswith("hand"):
            self.world.run(self.clock, program, "succeeded", one)
        else:
            self.world.end(self.clock, one)

    def check(self) -> None:
        """Every launch since the last look, one after the other, against all limits of its schedule."""
        entries = self.world.journal()
        for entry in entries[self.read :]:
            if entry.kind != "launch":
                continue
            ref, program = entry.schedule, PROGRAM[entry.schedule]
            others = [name for name, _ in self.active.values()]
            most, per = RATES.get(ref, (99, timedelta(1)))
            assert sum(name == program and entry.at - per < when for name, when in self.launched) < most
            assert others.count(program) < CONCURRENCY.get(ref, 99)
            assert sum(grouped for _, grouped in self.active.values()) < GROUP.get(ref, 99)
            assert len(others) < LOAD.get(ref, 99)
            self.active[entry.job] = (program, ref in GROUP)
            self.launched.append((program, entry.at))
        self.read = len(entries)


@settings(max_examples=40)
@given(STEPS)
def test_no_launch_exceeds_a_limit_and_none_is_forgotten(steps):
    books = Books()
    for step in steps:
        books.do(*step)
    # When runs end and time passes, whatever waits is launched in the end: no wake is forgotten.
    waiting = [job for name in "stu" for job in books.world.jobs(name) if job.waiting]
    for _ in range(2 * len(waiting) + len(books.active)):
        books.do("end", "", 0)
        books.do("pass", "", 600)
    assert not [job for name in "stu" for job in books.world.jobs(name) if job.waiting]
