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
  other: {run: j.other}
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
NAMED = "{run: {program: clean}, as: first}"
BOTH = "{any: [{run: {program: clean}, as: first}, {run: {program: other}, as: second}]}"
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
    (
        "trigger.first.run.args.day",
        (NAMED, BOTH),
        (f"{{any: [{RUN}, {{partitions: {{dataset: raw}}, as: first}}]}}",),
    ),
    ("trigger.data.partitions", (f"{{any: [{RUN}, {{partitions: {{dataset: raw}}, as: data}}]}}",), ()),
    ("trigger.data.partitions.raw", (f"{{any: [{RUN}, {{partitions: {{dataset: raw}}, as: data}}]}}",), ()),
    ("trigger.first.bytes", (), (NAMED, BOTH)),
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


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("trigger.args.day", "trigger.run.args.day"),
        ("trigger.first.args.day", "trigger.first.run.args.day"),
        ("trigger.first.id", "trigger.first.run.id"),
        ("trigger.outputs.clean", "trigger.run.outputs.clean"),
    ],
)
def test_a_fact_of_a_run_that_lacks_run_is_shown_with_it(written: str, meant: str) -> None:
    text = APP.replace("PROGRAM", "report").replace("TRIGGER", BOTH).replace("REFERENCE", written)
    (found,) = [each for each in compile_files({"a.yaml": text.encode()}).diagnostics if each.code == "N308"]
    assert found.hint == f"write {{{{ {meant} }}}}"


def test_an_argument_that_no_upstream_schedule_has_is_worth_a_warning() -> None:
    assert codes("trigger.run.args.date", RUN) == ["L412"]


TWO = "{any: [{run: {program: clean}}, {run: {program: other}}]}"
AMBIGUOUS = [
    ("several programs", "trigger.run.args.day", TWO, "N314"),
    ("its id too", "trigger.run.id", TWO, "N314"),
    ("the writer of a dataset is one program", "trigger.run.outputs.clean", TWO, None),
    (
        "several runs of one program are not ambiguous",
        "trigger.run.id",
        "{any: [{run: {program: clean}}, {run: {program: clean, status: failed}}]}",
        None,
    ),
    ("a name that no member has", "trigger.third.run.id", BOTH, "N308"),
    (
        "a member of several programs",
        "trigger.both.run.id",
        f"{{any: [{TWO[:-1]}, as: both}}, {RAW}]}}",
        "N314",
    ),
]


@pytest.mark.parametrize(
    ("sentence", "reference", "trigger", "code"), AMBIGUOUS, ids=[r[0] for r in AMBIGUOUS]
)
def test_a_reference_is_about_one_upstream_program(sentence, reference, trigger, code):
    assert codes(reference, trigger) == ([] if code is None else [code])
