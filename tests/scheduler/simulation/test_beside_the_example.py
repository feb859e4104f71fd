"""An example of an app with a task and a policy: what starts beside what it is about does not fail it."""

import pytest

from tidegate.compiler.compile import compile_files
from tidegate.scheduler.simulation.play import play

APP = """
app: trap
datasets:
  raw: {{partitions: {{cycle: day, start: 2026-11-01}}, path: landing/raw}}
  demand: {{partitions: {{cycle: day, start: 2026-11-01}}, format: iceberg}}
  closed: {{partitions: {{cycle: day, start: 2026-11-01}}}}
programs:
  demand: {{run: programs.demand, reads: [raw], writes: [demand]}}
  close_day: {{run: programs.close_day, writes: [closed]}}
schedules:
  each_day: {{program: demand, for_each: day, trigger: {{partitions: {{dataset: raw}}}}, status: active}}
tasks:
  close_day: {{program: close_day, cycle: day, at: {{time: "03:00"}}, status: active}}
policies:
  nightly: {{tables: "tidegate.trap.*", operations: {{expire_snapshots: {{interval: 1d}}}}}}
examples:
  - name: a day
    start: 2026-11-20T01:00:00Z
    until: +4h
    given: [{{at: +1h, partitions: {{dataset: raw, keys: [2026-11-19]}}}}{given}]
    expect: [{expect}]
"""
LAUNCH = "{at: +1h, launch: each_day, partitions: [2026-11-19]}"
TASK = "{at: +2h, launch: close_day}"
INSTANCE = "{at: +3h, instance: close_day, scheduled: 2026-11-20}"
NOTHING = "no launch, start, discard or refusal that is not listed"

ROWS = [
    # (sentence, more given, expect, what was not expected)
    ("neither is named", "", LAUNCH, ()),
    ("a schedule is as ever", "", "", ("each_day",)),
    ("a task is expected: operations count too", "", f"{LAUNCH}, {TASK}", ("maintained",)),
    ("an instance is expected", "", f"{LAUNCH}, {INSTANCE}", ("close_day",)),
    ("a task is suspended", ", {at: +1h, suspend: close_day}", LAUNCH, ("maintained",)),
    ("a policy is disabled", ", {at: +1m, disable: nightly}", LAUNCH, ("close_day",)),
    ("a table is written", ", {at: +1m, table: demand}", LAUNCH, ("close_day", "maintained")),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "given", "expect", "unexpected"), ROWS, ids=[row[0] for row in ROWS])
def test_what_is_not_named_fails_no_example(sentence, given, expect, unexpected):
    text = APP.format(given=given, expect=expect)
    compilation = compile_files({"trap.yaml": text.encode()})
    assert compilation.ok, compilation.diagnostics
    compiled = compilation.apps["trap"]

    failures = play(compiled.scenarios[0], compiled).failures

    observed = [each.observed for each in failures]
    assert {each.expected for each in failures} <= {NOTHING}
    assert bool(failures) is bool(unexpected)
    for words in unexpected:
        assert any(words in each for each in observed)
