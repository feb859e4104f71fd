"""Calendars and changes of the clocks through the whole engine, written as scenarios."""

import pytest

from tidegate.compiler.compile import compile_files
from tidegate.scheduler.simulation.play import play

APP = """
app: clocks
timezone: Europe/Berlin
calendars:
  office: {country: DE, subdivision: BE, open: [2026-03-28]}
datasets:
  raw: {partitions: {cycle: day, start: 2026-01-01}}
programs:
  p: {run: programs.p}
schedules:
  each_missed: {program: p, status: active, trigger: {cron: "0 6 * * *", calendar: office, catch_up: all}}
  the_latest: {program: p, status: active, trigger: {cron: "0 6 * * *", calendar: office}}
  at_month_end:
    program: p
    status: active
    trigger: {cron: "0 22 * * *", calendar: office, nth_business_day: -1}
  on_business_nights:
    program: p
    status: active
    trigger: {partitions: {dataset: raw}}
    constraints: [{window: {from: "22:00", to: "06:00", calendar: office}}]
    timeout: 7d
  within_the_gap:
    program: p
    status: active
    trigger: {partitions: {dataset: raw}}
    constraints: [{window: {from: "02:15", to: "02:45"}}]
    timeout: 7d
  early_in_the_morning:
    program: p
    status: active
    trigger: {partitions: {dataset: raw}}
    constraints: [{window: {from: "02:30", to: "06:00"}}]
  hours_in_steps: {program: p, status: active, trigger: {cron: "0 0-6/2 * * *"}}
examples:
  - name: all missed business days are made up for, and no other day
    start: 2026-04-01T12:00:00
    until: 2026-04-08T12:00:00
    expect_only: [each_missed]
    given:
      - {at: 2026-04-01T13:00:00, down: 6d}
    expect:
      # Good Friday and Easter Monday are holidays.
      - {at: 2026-04-07T13:00:00, launch: each_missed}
      - {at: 2026-04-07T13:00:00, launch: each_missed}
      - {at: 2026-04-08T06:00:00, launch: each_missed}

  - name: of the missed business days the last one counts
    start: 2026-04-01T12:00:00
    until: 2026-04-06T12:00:00
    expect_only: [the_latest]
    given:
      - {at: 2026-04-01T13:00:00, down: 3d}
    expect:
      - {at: 2026-04-04T13:00:00, launch: the_latest}

  - name: a Saturday that was opened by name is a business day
    start: 2026-03-27T12:00:00
    until: 2026-03-30T12:00:00
    expect_only: [the_latest]
    expect:
      - {at: 2026-03-28T06:00:00, launch: the_latest}
      - {at: 2026-03-30T06:00:00, launch: the_latest}

  - name: the last business day of a month that ends on a Sunday
    start: 2026-05-01T00:00:00
    until: 2026-06-02T00:00:00
    expect_only: [at_month_end]
    expect:
      - {at: 2026-05-29T22:00:00, launch: at_month_end}

  - name: data of a Sunday waits for the night of Monday
    start: 2026-03-08T00:00:00
    until: 2026-03-10T00:00:00
    expect_only: [on_business_nights]
    given:
      # The night from Saturday to Sunday belongs to Saturday, which is not a business day.
      - {at: 2026-03-08T03:00:00, partitions: {dataset: raw, keys: [2026-03-07]}}
    expect:
      - at: 2026-03-08T03:00:00
        waiting: on_business_nights
        reason: W-WINDOW
        next_check: 2026-03-09T22:00:00+01:00
      - {at: 2026-03-09T22:00:00, launch: on_business_nights, partitions: [2026-03-07]}

  - name: the night of a business day lasts until the morning of a day that is none
    start: 2026-04-02T12:00:00
    until: 2026-04-03T12:00:00
    expect_only: [on_business_nights]
    given:
      - {at: 2026-04-03T03:00:00, partitions: {dataset: raw, keys: [2026-04-02]}}
    expect:
      - {at: 2026-04-03T03:00:00, launch: on_business_nights, partitions: [2026-04-02]}

  - name: a window that the clocks skip opens a day later
    start: 2026-03-28T12:00:00
    until: 2026-03-30T12:00:00
    expect_only: [within_the_gap]
    given:
      - {at: 2026-03-28T13:00:00, partitions: {dataset: raw, keys: [2026-03-27]}}
    expect:
      - {at: 2026-03-28T13:00:00, waiting: within_the_gap, next_check: 2026-03-30T02:15:00+02:00}
      - {at: 2026-03-30T02:15:00, launch: within_the_gap, partitions: [2026-03-27]}

  - name: a window whose opening the clocks skip opens when they go on
    start: 2026-03-28T12:00:00
    until: 2026-03-29T12:00:00
    expect_only: [early_in_the_morning]
    given:
      - {at: 2026-03-28T13:00:00, partitions: {dataset: raw, keys: [2026-03-27]}}
    expect:
      - {at: "2026-03-29T03:00:00+02:00", launch: early_in_the_morning, partitions: [2026-03-27]}

  - name: a window in the hour that comes twice is opened twice
    start: 2026-10-24T12:00:00
    until: 2026-10-25T12:00:00
    expect_only: [within_the_gap]
    programs: {p: {takes: 1m}}
    given:
      - {at: 2026-10-24T13:00:00, partitions: {dataset: raw, keys: [2026-10-23]}}
      - {at: "2026-10-25T02:50:00+02:00", partitions: {dataset: raw, keys: [2026-10-24]}}
    expect:
      - {at: "2026-10-25T02:15:00+02:00", launch: within_the_gap, partitions: [2026-10-23]}
      - {at: "2026-10-25T02:15:00+01:00", launch: within_the_gap, partitions: [2026-10-24]}

  - name: hours in steps run in every real hour that shows one of them
    start: 2026-10-24T12:00:00
    until: 2026-10-25T12:00:00
    expect_only: [hours_in_steps]
    expect:
      - {at: "2026-10-25T00:00:00+02:00", launch: hours_in_steps}
      - {at: "2026-10-25T02:00:00+02:00", launch: hours_in_steps}
      - {at: "2026-10-25T02:00:00+01:00", launch: hours_in_steps}
      - {at: "2026-10-25T04:00:00+01:00", launch: hours_in_steps}
      - {at: "2026-10-25T06:00:00+01:00", launch: hours_in_steps}
"""

COMPILATION = compile_files({"clocks.yaml": APP.encode()})
SCENARIOS = {
    scenario.name: (compiled, scenario)
    for compiled in COMPILATION.apps.values()
    for scenario in compiled.scenarios
}


def test_the_app_has_no_mistakes() -> None:
    assert COMPILATION.diagnostics == ()
    assert len(SCENARIOS) == 10


@pytest.mark.parametrize("name", SCENARIOS)
def test_it_plays_as_it_says(name: str) -> None:
    app, scenario = SCENARIOS[name]
    performance = play(scenario, app)
    assert performance.failures == (), "\n".join(map(str, (*performance.moments, *performance.failures)))
