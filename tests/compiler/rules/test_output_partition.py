"""The default of `output_partition`, one row for each sentence of "What a run writes" in docs/rules.md."""

import pytest

from tidegate.compiler.compile import compile_files

APP = """\
app: a
datasets:
  days: {partitions: {cycle: day, start: 2013-01-01}}
  days_too: {partitions: {when: {cycle: day, start: 2020-01-01}}}
  days_utc: {partitions: {cycle: day, start: 2013-01-01, timezone: Europe/Berlin}}
  hours: {partitions: {cycle: hour, start: 2013-01-01}}
  origins: {partitions: {origin: [EWR, JFK]}}
  both: {partitions: {day: {cycle: day, start: 2013-01-01}, origin: [EWR, JFK]}}
  out_days: {partitions: {cycle: day, start: 2014-01-01}}
  out_hours: {partitions: {cycle: hour, start: 2013-01-01}}
  out_origins: {partitions: {origin: [JFK, EWR]}}
  out_both: {partitions: {origin: [EWR, JFK], day: {cycle: day, start: 2013-01-01}}}
  out_whole: {}
programs:
  p: {run: j.p, writes: [WRITES]}
  other: {run: j.other}
  daily: {run: j.daily, writes: [days_too]}
  chunks: {run: j.chunks, writes: [both]}
schedules:
  s: {program: p, trigger: TRIGGER, EXTRA}
"""
ROWS = [
    # outputs, trigger, more, default
    ("", "{partitions: {dataset: days}}", "", "none"),
    ("out_whole", "{partitions: {dataset: days}}", "", "none"),
    ("out_whole", '{cron: "@daily"}', "", "none"),
    ("out_whole", "{partitions: {dataset: days}}", "for_each: day", "none"),
    ("out_days", "{partitions: {dataset: days}}", "", "manifest"),
    ("out_days", "{partitions: {dataset: days, count: 7}}", "", "manifest"),
    ("out_days", "{partitions: {dataset: days_too}}", "", "manifest"),
    ("out_days, out_whole", "{partitions: {dataset: days}}", "", "manifest"),
    ("out_days", "{partitions: {dataset: days_utc}}", "", "current"),
    ("out_days", "{partitions: {dataset: hours}}", "", "current"),
    ("out_both", "{partitions: {dataset: both}}", "", "manifest"),
    ("out_origins", "{partitions: {dataset: origins}}", "", "manifest"),
    ("out_days", "{partitions: {dataset: days}}", "for_each: partition", "key"),
    ("out_days", "{partitions: {dataset: hours, complete: day}}", "for_each: day", "key"),
    ("out_days", "{partitions: {dataset: both, complete: day}}", "for_each: day", "key"),
    ("out_both", "{partitions: {dataset: both}}", "for_each: partition", "key"),
    ("out_days", '{cron: "@daily"}', "", "business_date"),
    ("out_hours", '{cron: "@hourly"}', "", "business_date"),
    ("out_days", '{any: [{cron: "@daily"}, {partitions: {dataset: days}}]}', "", "manifest"),
    ("out_days", "{run: {program: other}}", "", "current"),
    ("out_days", "{run: {program: daily}}", "", "run"),
    ("out_days", "{run: {program: daily, status: failed}}", "", "run"),
    ("out_days", '{any: [{run: {program: daily}}, {cron: "@daily"}]}', "", "run"),
    ("out_both", "{run: {program: chunks}}", "", "run"),
    ("out_days", "{run: {program: chunks}}", "", "current"),
    ("out_days", "{run: {program: daily}}", "output_partition: current", "current"),
    (
        "out_days",
        "{run: {program: daily}}",
        "output_partition: {from: trigger.run.outputs.days_too}",
        "run",
    ),
    ("out_days", '{any: [{cron: "@daily"}, {partitions: {dataset: hours}}]}', "", "business_date"),
    ("out_days", "{size: {dataset: days, bytes: 1GB}}", "", "manifest"),
    ("out_days", "{size: {dataset: hours, rows: 5}}", "", "current"),
    ("out_days", "{size: {dataset: hours, rows: 5}}", "for_each: day", "key"),
    ("out_days", "{size: {dataset: days, rows: 5}}", "for_each: partition", "key"),
    ("out_days", "{any: [{elapsed: {for: 4h}}, {size: {dataset: days, bytes: 1GB}}]}", "", "manifest"),
    ("out_days", "{elapsed: {for: 4h}}", "", "business_date"),
    ("out_days", "{sequence: [{partitions: {dataset: days}}], wait_at_most: 1h}", "", "manifest"),
]


def text_of(writes: str, trigger: str, extra: str) -> str:
    text = APP.replace("WRITES", writes).replace("TRIGGER", trigger)
    return text.replace(", EXTRA", f", {extra}" if extra else "")


REFUSED = [
    # outputs, trigger, more, code
    ("out_both", "{partitions: {dataset: days}}", "", "L417"),
    ("out_both", '{cron: "@daily"}', "", "L417"),
    ("out_origins", '{cron: "@daily"}', "", "L417"),
    ("out_origins", "{elapsed: {for: 4h}}", "", "L417"),
    ("out_origins", "{run: {program: daily}}", "", "L417"),
    ("out_days", "{partitions: {dataset: days}}", "output_partition: none", "L417"),
    ("out_both", "{run: {program: chunks}}", "output_partition: current", "L404"),
    ("out_days", "{run: {program: chunks}}", "output_partition: {from: trigger.run.outputs.both}", "L404"),
    ("out_days", "{run: {program: daily}}", "output_partition: {from: trigger.run.outputs.days}", "L411"),
    ("out_days", "{run: {program: other}}", "output_partition: {from: trigger.run.outputs.days}", "L411"),
    ("out_days", '{cron: "@daily"}', "output_partition: {from: trigger.run.outputs.days}", "L411"),
    ("out_days", "{run: {program: daily}}", "output_partition: {from: trigger.run.args.day}", "S106"),
    ("out_days", "{run: {program: daily}}", "output_partition: yesterday", "S105"),
]


@pytest.mark.parametrize(("writes", "trigger", "extra", "code"), REFUSED)
def test_a_run_that_could_write_no_partition_is_refused(
    writes: str, trigger: str, extra: str, code: str
) -> None:
    compilation = compile_files({"f.yaml": text_of(writes, trigger, extra).encode()})

    assert [found.code for found in compilation.diagnostics] == [code]


@pytest.mark.parametrize(("writes", "trigger", "extra", "default"), ROWS)
def test_the_default_follows_from_trigger_and_outputs(
    writes: str, trigger: str, extra: str, default: str
) -> None:
    compilation = compile_files({"f.yaml": text_of(writes, trigger, extra).encode()})

    assert {found.code for found in compilation.diagnostics} <= {"L435"}
    assert compilation.apps["a"].app.schedules["s"].output_partition == default
