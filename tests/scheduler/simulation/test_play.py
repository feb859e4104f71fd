"""Scenarios on the real engine, as a user would write them: each action, and what comes of it."""

import pytest

from tests.scheduler.simulation.app_under_test import (
    ARRIVES,
    FILES,
    START,
    compiled,
    played,
)
from tidegate.scheduler.simulation.play import play

PASSING = {
    "a run writes its partitions, which trigger the next": f"""
{START}
programs: {{p: {{takes: 5m}}}}
given: [{ARRIVES}]
until: +1h
expect:
  - {{at: +0s, launch: by_day, partitions: [2026-03-09], args: {{n: 1}}}}
  - {{at: +5m, launch: after, partitions: [2026-03-09]}}
""",
    "a failed run writes nothing": f"""
{START}
programs: {{p: {{takes: 5m, ends: failed}}}}
given: [{ARRIVES}]
until: +1h
expect: [{{launch: by_day}}]
""",
    "a run that takes no time": f"""
{START}
programs: {{p: {{takes: 0s}}, q: {{takes: 0s}}}}
given: [{ARRIVES}]
until: +1h
expect: [{{at: +0s, launch: by_day}}, {{at: +0s, launch: after}}]
""",
    "given at one instant, decided together": f"""
{START}
programs: {{p: {{takes: 10m}}}}
given:
  - {ARRIVES}
  - {{at: +0s, resume: joined}}
  - {{at: +0s, partitions: {{dataset: other, keys: [2026-03-09], bytes: 12MB, rows: 900}}}}
until: +1m
expect_only: [joined]
expect: [{{at: +0s, waiting: joined, reason: W-WINDOW, next_check: 2026-03-10T22:00:00-04:00, collected: 2}}]
""",
    "what is suspended does nothing, and nothing has to be expected of it": f"""
{START}
given: [{{at: +0s, partitions: {{dataset: other, keys: [2026-03-09]}}}}]
until: +1d
expect: [{{at: +1h, none: joined}}, {{at: +18h, none: nightly}}]
""",
    "a cron's run has its business date": """
start: 2026-03-10T12:00:00-04:00
given: [{at: +0s, resume: nightly}]
until: +24h
expect: [{at: 2026-03-11T06:00:00-04:00, launch: nightly, partitions: [2026-03-10]}]
""",
    "suspend discards what waits": f"""
{START}
given:
  - {{at: +0s, resume: joined}}
  - {{at: +0s, partitions: {{dataset: other, keys: [2026-03-09]}}}}
  - {{at: +1h, suspend: joined}}
  - {{at: +2h, partitions: {{dataset: other, keys: [2026-03-08]}}}}
until: +1d
expect:
  - {{at: +0s, waiting: joined, reason: W-TRIGGER, collected: 1}}
  - {{at: +1h, discarded: joined, reason: D-SUSPENDED}}
  - {{at: +2h, none: joined}}
""",
    "an update discards, merges, and keeps the status": f"""
{START}
given:
  - {{at: +0s, resume: joined}}
  - {{at: +0s, partitions: {{dataset: other, keys: [2026-03-09]}}}}
  - {{at: +1h, update: {{joined: {{trigger: {{wait_at_most: 1h}}, constraints: []}}}}}}
  - {{at: +2h, partitions: {{dataset: other, keys: [2026-03-08]}}}}
until: +1d
expect:
  - {{at: +1h, discarded: joined, reason: D-UPDATED}}
  - {{at: +3h, launch: joined, partitions: [2026-03-08]}}
""",
    "a second update is merged over the first": f"""
{START}
given:
  - {{at: +0s, resume: nightly}}
  - {{at: +1m, update: {{nightly: {{args: {{a: 1}}}}}}}}
  - {{at: +2m, update: {{nightly: {{args: {{b: 2}}}}}}}}
until: +1d
expect: [{{launch: nightly, args: {{a: 1, b: 2}}}}]
""",
    "a wrong update is refused and changes nothing": f"""
{START}
given:
  - {{at: +0s, resume: nightly}}
  - {{at: +1h, update: {{nightly: {{program: unknown}}}}}}
  - {{at: +2h, update: {{nightly: {{trigger: {{cron: "0 0 30 2 *"}}}}}}}}
until: +1d
expect:
  - {{at: +1h, refused: N302}}
  - {{refused: V203}}
  - {{at: 2026-03-11T06:00:00-04:00, launch: nightly}}
""",
    "delete": f"""
{START}
given:
  - {{at: +0s, resume: joined}}
  - {{at: +0s, partitions: {{dataset: other, keys: [2026-03-09]}}}}
  - {{at: +1h, delete: joined}}
  - {{at: +2h, delete: joined}}
  - {{at: +3h, resume: joined}}
  - {{at: +4h, update: {{joined: {{priority: low}}}}}}
until: +1d
expect:
  - {{at: +1h, discarded: joined, reason: D-DELETED}}
  - {{at: +2h, refused: N305}}
  - {{at: +3h, refused: N305}}
  - {{at: +4h, refused: N305}}
""",
    "deploy another text": f"""
{START}
given:
  - {{at: +0s, resume: nightly}}
  - at: +1h
    deploy:
      file: next.yaml
  - {{at: +2h, partitions: {{dataset: out, keys: [2026-03-09]}}}}
until: +1d
expect: [{{at: +2h, launch: after}}]
""",
    "deploy without updating takes only what cannot stay": f"""
{START}
given:
  - {{at: +0s, resume: nightly}}
  - {{at: +1h, deploy: {{file: next.yaml, update_schedules: false}}}}
  - {{at: +2h, partitions: {{dataset: raw, keys: [2026-03-09]}}}}
until: +1d
expect: [{{launch: nightly}}, {{at: +2h, none: by_day}}]
""",
    "a deployment that takes what a schedule needs is refused unless schedules follow": f"""
{START}
given:
  - {{at: +1h, deploy: {{file: without_raw.yaml, update_schedules: false}}}}
  - {{at: +2h, deploy: {{file: without_raw.yaml}}}}
until: +1d
expect: [{{at: +1h, refused: N301}}]
""",
    "null takes a key away": f"""
{START}
given:
  - {{at: +0s, resume: nightly}}
  - {{at: +1m, update: {{nightly: {{trigger: {{cron: null, partitions: {{dataset: other}}}}}}}}}}
  - {{at: +2m, partitions: {{dataset: other, keys: [2026-03-09]}}}}
until: +1d
expect: [{{at: +2m, launch: nightly}}]
""",
    "a broken deployment is refused": f"""
{START}
given: [{{at: +1h, deploy: {{file: broken.yaml}}}}, {{at: +2h, deploy: {{app: "app: ["}}}}]
until: +1d
expect: [{{at: +1h, refused: N302}}, {{at: +2h, refused: R106}}]
""",
    "trigger by hand, and by force": f"""
{START}
given:
  - {{at: +0s, trigger: joined}}
  - {{at: +1h, trigger: {{schedule: joined, force: true}}}}
  - {{at: +2h, trigger: {{schedule: by_day, key: 2026-03-09}}}}
until: +3h
expect_only: [joined, by_day]
expect:
  - {{at: +0s, waiting: joined, reason: W-WINDOW, collected: 0}}
  - {{at: +1h, launch: joined, partitions: []}}
  - {{at: +2h, launch: by_day}}
""",
    "a run from elsewhere takes the slot": f"""
{START}
given:
  - {{at: +0s, run: {{program: q, id: x, status: started}}}}
  - {{at: +1h, partitions: {{dataset: out, keys: [2026-03-09]}}}}
  - {{at: +2h, run: {{program: q, id: x, status: cancelled}}}}
until: +3h
expect:
  - {{at: +1h, waiting: after, reason: W-CONCURRENCY}}
  - {{at: +2h, launch: after}}
""",
    "a restart loses nothing and launches nothing twice": f"""
{START}
given: [{ARRIVES}, {{at: +0s, restart: true}}, {{at: +1m, restart: true}}, {{at: +30m, restart: true}}]
until: +1h
expect: [{{at: +0s, launch: by_day}}, {{at: +1m, launch: after}}]
""",
    "what happens while the scheduler is down is read at its return, with its own time": f"""
{START}
programs: {{p: {{takes: 10m}}}}
given:
  - {{at: +0s, resume: joined}}
  - {ARRIVES}
  - {{at: +5m, down: 2h}}
  - {{at: +30m, partitions: {{dataset: raw, keys: [2026-03-08]}}}}
  - {{at: +40m, partitions: {{dataset: other, keys: [2026-03-08]}}}}
until: +3h
expect:
  - {{at: +0s, launch: by_day, partitions: [2026-03-09]}}
  - {{at: +2h, none: nightly}}
  - {{at: 2026-03-10T14:05:00-04:00, launch: after, partitions: [2026-03-09]}}
  - {{at: 2026-03-10T14:05:00-04:00, launch: by_day, partitions: [2026-03-08]}}
  - {{at: 2026-03-10T14:15:00-04:00, launch: after, partitions: [2026-03-08]}}
""",
    "a cron missed while down is made up for once": """
start: 2026-03-10T12:00:00-04:00
given: [{at: +0s, resume: nightly}, {at: +1h, down: 3d}]
until: 2026-03-13T14:00:00-04:00
expect: [{at: 2026-03-13T13:00:00-04:00, launch: nightly, partitions: [2026-03-12]}]
""",
    "a launch that fails is tried again with longer and longer pauses": f"""
{START}
given: [{ARRIVES}, {{at: +0s, fail_launch: {{schedule: by_day, times: 3}}}}]
until: +1h
within: 1m
expect: [{{at: +1m, launch: by_day}}, {{at: +2m, launch: after}}]
""",
    "a launch that fails for good is a dead letter": f"""
{START}
given: [{ARRIVES}, {{at: +0s, fail_launch: {{schedule: by_day, times: 99}}}}]
until: +1h
expect: [{{discarded: by_day, reason: F-LAUNCH}}, {{at: +1h, none: by_day}}]
""",
    "what a run from elsewhere has written is there once it has succeeded": f"""
{START}
given:
  - {{at: +0s, run: {{program: p, id: one, status: failed, outputs: {{out: [2026-03-08]}}}}}}
  - {{at: +1m, run: {{program: p, id: two, status: started, outputs: {{out: [2026-03-09]}}}}}}
  - {{at: +5m, run: {{program: p, id: two, status: succeeded, outputs: {{out: [2026-03-09]}}}}}}
until: +1h
expect: [{{at: +5m, launch: after, partitions: [2026-03-09]}}]
""",
    "a hand that asks for what cannot be is refused with the code of its mistake": f"""
{START}
given:
  - {{at: +0s, trigger: {{schedule: by_day, key: tuesday}}}}
  - {{at: +1m, trigger: {{schedule: after, key: 2026-03-09}}}}
  - {{at: +2m, delete: after}}
  - {{at: +3m, trigger: after}}
until: +1h
expect: [{{at: +0s, refused: V205}}, {{at: +1m, refused: V205}}, {{at: +3m, refused: N305}}]
""",
    "a gauge holds back and releases": f"""
{START}
given:
  - {{at: +0s, update: {{by_day: {{constraints: [{{load: {{gauge: cluster_load, max: 50}}}}]}}}}}}
  - {{at: +0s, gauge: {{cluster_load: 50.5}}}}
  - {{at: +1m, partitions: {{dataset: raw, keys: [2026-03-09]}}}}
  - {{at: +9m, gauge: {{cluster_load: 50}}}}
until: +20m
expect:
  - {{at: +1m, waiting: by_day, reason: W-LOAD}}
  - {{at: +9m, launch: by_day}}
  - {{at: +10m, launch: after}}
""",
    "a cron goes on while its schedule keeps a backlog": f"""
{START}
given:
  - {{at: +0s, update: {{nightly: {{on_suspend: backlog}}}}}}
  - {{at: +0s, resume: nightly}}
  - {{at: +1m, suspend: nightly}}
  - {{at: +1d, resume: nightly}}
until: +36h
expect:
  - {{at: +18h, waiting: nightly, reason: W-HELD, collected: 1}}
  - {{at: +1d, launch: nightly, partitions: [2026-03-10]}}
""",
    "several launches that several expectations could mean": f"""
{START}
programs: {{p: {{ends: failed}}}}
given: [{{at: +0s, partitions: {{dataset: raw, keys: [2026-03-08, 2026-03-09]}}}}]
expect: [{{launch: by_day}}, {{launch: by_day, partitions: [2026-03-09]}}]
until: +1h
""",
    "expect_only narrows what must be expected": f"""
{START}
given: [{ARRIVES}]
until: +1h
expect_only: [after]
expect: [{{at: +1m, launch: after}}]
""",
    "within allows slack": f"""
{START}
given: [{ARRIVES}]
until: +1h
expect: [{{at: +3s, within: 5s, launch: by_day}}, {{at: +58s, within: 2s, launch: after}}]
""",
    "times without an offset are those of the app's zone": """
start: 2026-03-10T12:00:00
given: [{at: +0s, resume: nightly}]
until: 2026-03-11T07:00:00
expect: [{at: 2026-03-11T06:00:00, launch: nightly}]
""",
}


@pytest.mark.parametrize("name", PASSING)
def test_passes(name: str) -> None:
    performance = played(PASSING[name])
    assert performance.failures == (), "\n".join(map(str, (*performance.moments, *performance.failures)))


def test_schedules_that_trigger_each_other_without_time_passing_come_to_an_end(monkeypatch) -> None:
    from tidegate.scheduler.simulation import simulation

    monkeypatch.setattr(simulation, "INSTANTS_MAX", 1)
    performance = played(PASSING["a run writes its partitions, which trigger the next"])
    assert [failure.expected for failure in performance.failures] == ["an end"]
    monkeypatch.setattr(simulation, "ROUNDS_PER_INSTANT_MAX", 1)
    performance = played(PASSING["a run that takes no time"])
    assert "does not end within" in performance.failures[0].observed


@pytest.mark.slow
def test_the_same_scenario_gives_the_same_timeline() -> None:
    for example in PASSING.values():
        assert played(example).moments == played(example).moments


@pytest.mark.slow
def test_any_store_plays_the_same(tmp_path) -> None:
    from tidegate.scheduler.store.open import open_store

    for number, example in enumerate(list(PASSING.values())[::6]):
        app = compiled(example)
        store = open_store(f"sqlite:///{tmp_path}/{number}.db")
        on_disk = play(app.scenarios[0], app, store, read_file=lambda name: FILES[name].encode())
        store.close()
        assert on_disk == played(example)
