"""The app of the scenarios below, and a hand to play one on it."""

from tidegate.compiler.compile import CompiledApp, compile_files
from tidegate.scheduler.simulation.play import Performance, play

APP = """
app: a
timezone: America/New_York
datasets:
  raw: {partitions: {cycle: day, start: 2013-01-01}}
  other: {partitions: {cycle: day, start: 2013-01-01}}
  out: {partitions: {cycle: day, start: 2013-01-01}}
programs:
  p: {run: programs.p, reads: [raw], writes: [out]}
  q: {run: programs.q, reads: [out]}
schedules:
  by_day: {program: p, for_each: day, trigger: {partitions: {dataset: raw}}, args: {n: 1}, status: active}
  after:
    program: q
    trigger: {partitions: {dataset: out}}
    constraints: [{concurrency: {max: 1}}]
    status: active
  nightly: {program: q, trigger: {cron: "0 6 * * *"}, status: suspended}
  joined:
    program: q
    trigger: {all: [{partitions: {dataset: raw}}, {partitions: {dataset: other}}], wait_at_most: 3h}
    constraints: [{window: {from: "22:00", to: "06:00"}}]
    status: suspended
examples:
"""

START = "start: 2026-03-10T12:00:00-04:00"
GIVEN = f"{START}\ngiven:"
ONLY = "expect_only: []\nexpect:"
TRIGGERED = "{at: +0s, trigger: joined}"
ARRIVES = "{at: +0s, partitions: {dataset: raw, keys: [2026-03-09]}}"


def compiled(example: str) -> CompiledApp:
    lines = "\n".join(f"    {line}" for line in example.strip().splitlines())
    compilation = compile_files({"a.yaml": f"{APP}  - name: it\n{lines}\n".encode()})
    assert compilation.ok, "\n".join(f"{d.at} {d.code} {d.summary}" for d in compilation.diagnostics)
    return compilation.apps["a"]


def played(example: str) -> Performance:
    app = compiled(example)
    return play(app.scenarios[0], app, read_file=lambda name: FILES[name].encode())


WITHOUT_P = """
app: a
datasets:
  raw: {partitions: {cycle: day, start: 2013-01-01}}
  other: {partitions: {cycle: day, start: 2013-01-01}}
  out: {partitions: {cycle: day, start: 2013-01-01}}
programs:
  q: {run: programs.q, reads: [out]}
schedules:
  after: {program: q, trigger: {partitions: {dataset: out}}, constraints: [{concurrency: {max: 1}}]}
"""

BROKEN = """
app: a
schedules: {s: {program: none, trigger: {cron: never}}}
"""

WITHOUT_RAW = WITHOUT_P.replace("  raw: {partitions: {cycle: day, start: 2013-01-01}}\n", "")

FILES = {"without_raw.yaml": WITHOUT_RAW, "next.yaml": WITHOUT_P, "broken.yaml": BROKEN}
