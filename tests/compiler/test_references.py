"""References in `args`: which triggers give which, one row for each sentence of docs/language.md."""

import pytest

from tidegate.compiler.compile import compile_files

APP = """\
app: a
datasets:
  raw: {partitions: {cycle: day, start: 2013-01-01}}
  whole: {}
  clean: {partitions: {cycle: day, start: 2013-01-01}}
programs:
  clean: {run: j.clean, reads: [raw], writes: [clean]}
  report: {run: j.report}
schedules:
  upstream: {program: clean, trigger: {cron: "@daily"}, args: {day: 1}}
  one:
    program: PROGRAM
    trigger: TRIGGER
    args: {x: ["{{ REFERENCE }}"]}
"""
RAW = "{partitions: {dataset: raw}}"
SIZE = "{size: {dataset: raw, rows: 5}}"
WHOLE = "{partitions: {dataset: whole}}"
CRON = '{cron: "@daily"}'
RUN = "{run: {program: clean}}"
CLOCK = "{elapsed: {for: 4h}}"
EACH = "RAW\n    for_each: partition".replace("RAW", RAW)
ROWS = [
    # the reference, the triggers that give it, those that do not
    ("scheduled_time", (CRON, f"{{any: [{CRON}, {RAW}]}}"), (RAW, SIZE, RUN, CLOCK)),
    ("business_date", (CRON,), (RAW, SIZE, RUN, CLOCK)),
    ("key", (EACH,), (RAW, CRON)),
    ("trigger.partitions", (RAW, SIZE, f"{{sequence: [{RAW}, {CLOCK}]}}"), (WHOLE, CRON, RUN, CLOCK)),
    ("trigger.partitions.raw", (RAW, SIZE), (WHOLE, CRON, RUN)),
    ("trigger.partitions.whole", (), (WHOLE, RAW)),
    ("trigger.bytes", (RAW, SIZE, WHOLE), (CRON, RUN, CLOCK)),
    ("trigger.rows", (RAW, SIZE, WHOLE), (CRON, RUN, CLOCK)),
    ("trigger.count", (RAW, SIZE, WHOLE, CRON, RUN, CLOCK), ()),
    ("trigger.first_event_time", (RAW, SIZE, WHOLE, CRON, RUN, CLOCK), ()),
    ("trigger.run.id", (RUN, f"{{at_least: {{n: 1, of: [{RUN}, {RAW}]}}}}"), (RAW, CRON)),
    ("trigger.run.program", (RUN,), (RAW,)),
    ("trigger.run.status", (RUN,), (RAW,)),
    ("trigger.run.args.day", (RUN,), (RAW,)),
    ("trigger.run.outputs.clean", (RUN,), (RAW, CRON)),
    ("trigger.run.outputs.raw", (), (RUN,)),
]
GIVEN = [(reference, trigger) for reference, given, _ in ROWS for trigger in given]
LACKING = [(reference, trigger) for reference, _, lacking in ROWS for trigger in lacking]


def codes(reference: str, trigger: str, program: str = "report") -> list[str]:
    text = APP.replace("PROGRAM", program).replace("TRIGGER", trigger).replace("REFERENCE", reference)
    found = compile_files({"f.yaml": text.encode()}).diagnostics
    return [d.code for d in found if d.code != "L435"]


@pytest.mark.parametrize(("reference", "trigger"), GIVEN)
def test_a_trigger_gives_the_reference(reference: str, trigger: str) -> None:
    assert codes(reference, trigger) == []


@pytest.mark.parametrize(("reference", "trigger"), LACKING)
def test_a_trigger_does_not_give_the_reference(reference: str, trigger: str) -> None:
    assert codes(reference, trigger) == ["L411"]


def test_an_output_that_is_cut_by_it_gives_a_business_date_to_any_clock() -> None:
    assert codes("business_date", CLOCK, program="clean") == []


@pytest.mark.parametrize(
    "reference", ["", "trigger", "trigger.run", "trigger.run.args", "Key", "keys", "a.b"]
)
def test_there_are_no_other_references(reference: str) -> None:
    assert codes(reference, RAW) == ["N308" if reference else "V215"]


def test_an_argument_that_no_upstream_schedule_has_is_worth_a_warning() -> None:
    assert codes("trigger.run.args.date", RUN) == ["L412"]
