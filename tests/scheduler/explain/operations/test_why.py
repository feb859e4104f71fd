"""Why an operation on a table waits: the verdicts with their texts, what would help, and who holds it."""

import pytest

from tests.worlds.tables import EXPIRE, REWRITE, WRITES_OUT, TableWorld, shown
from tests.worlds.world import at
from tidegate.domain.model import Operation
from tidegate.scheduler.explain.explanation import Explanation
from tidegate.scheduler.explain.operations.why import explain_operations
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.launch.run_report import note_failure
from tidegate.scheduler.model.run import RunStatus

X = "w.a.x"
BUDGET = "{tables_per_poll: 1, operations_per_poll: 9, bytes_per_hour: 1GB}"
IN_THE_GROUP = """
s:
  program: q
  status: active
  trigger: {cron: "0 12 * * *"}
  constraints: [{concurrency: {max: 9, group: spark}}]
t:
  program: w
  status: active
  trigger: {cron: "0 0 * * *"}
"""


def of_table(
    world: TableWorld, clock: str, table: str = X, operation: Operation | None = None
) -> tuple[Explanation, ...]:
    with world.store.reading() as reader:
        return explain_operations(reader, table, at(clock), operation)


def only(world: TableWorld, clock: str, table: str = X, operation: Operation = REWRITE) -> Explanation:
    (found,) = of_table(world, clock, table, operation)
    return found


def of_job(world: TableWorld, clock: str, job: str) -> Explanation:
    with world.store.reading() as reader:
        (found,) = explain(reader, job, at(clock))
    return found


def unmet(explanation: Explanation) -> list[str]:
    return [f"{each.kind}: {each.summary}" for each in explanation.constraints if not each.met]


def test_before_and_after_its_first_run() -> None:
    world = TableWorld("p: {tables: w.a.x, operations: {rewrite_data_files: {cron: '0 6 * * *'}}}", X)
    before = only(world, "00:00:30")
    assert before.headline == "ready: the poll at 2026-03-10 00:01:00Z may start it"
    assert (before.job, before.work.operation) == (None, REWRITE)
    assert shown(before.can_run_at) == "00:01"
    world.poll("00:01")
    (running,) = of_table(world, "00:02")
    assert running.headline.endswith("; its timeout ends at 2026-03-10 04:01:00Z")
    world.end_all("00:03")
    after = only(world, "00:04")
    assert after.headline == "not due: its next run is at 2026-03-10 06:00:00Z"
    assert (after.trigger.met, after.trigger.summary) == (False, 'cron "0 6 * * *" UTC')
    assert [(each.kind, each.what, shown(each.by)) for each in after.missing] == [("due", "time", "06:00")]
    assert shown(after.can_run_at) == "06:00"


@pytest.mark.parametrize(
    ("operation", "pace"), [("{interval: 90m}", "every 90m"), ("{}", "once a day"), ("", "once a day")]
)
def test_the_pace_of_an_operation(operation: str, pace: str) -> None:
    world = TableWorld(f"p: {{tables: w.a.x, operations: {{rewrite_data_files: {operation or '{}'}}}}}", X)
    world.poll("00:00")
    world.end_all("00:01")
    assert only(world, "00:02").trigger.summary == pace
    assert only(world, "2d 00:00").trigger.met


@pytest.mark.parametrize(
    ("window", "text"),
    [
        ("{from: '02:00', to: '06:00'}", "window: 02:00-06:00 UTC is closed"),
        ("{from: '02:00', to: '06:00', days: [mon, fri]}", "window: 02:00-06:00 UTC on mon, fri is closed"),
        (
            "{from: '02:00', to: '06:00', calendar: ny}",
            "window: 02:00-06:00 UTC on business days of ny is closed",
        ),
    ],
)
def test_a_window(window: str, text: str) -> None:
    head = "app: a\ncalendars: {ny: {country: US}}\n"
    world = TableWorld(
        f"p: {{tables: w.a.x, operations: {{rewrite_data_files: {{window: {window}}}}}}}", X, head=head
    )
    found = only(world, "00:30")
    assert unmet(found) == [text]
    assert found.missing[0].what == "time"
    if "days" not in window:
        assert [each.summary for each in only(world, "03:00").constraints if each.kind == "window"] == [
            text.removeprefix("window: ").replace("closed", "open")
        ]


def test_when_it_can_run_is_an_instant_at_which_its_window_is_open() -> None:
    operation = "{interval: 12h, window: {from: '02:00', to: '06:00'}}"
    world = TableWorld(f"p: {{tables: w.a.x, operations: {{rewrite_data_files: {operation}}}}}", X)
    world.poll("02:00")
    world.end_all("02:30")
    found = only(world, "03:00")
    assert [(each.kind, shown(each.by)) for each in found.missing] == [("due", "14:00")]
    assert shown(found.can_run_at) == "1d 02:00"
    world.poll("14:00")
    assert world.reason("14:00:30", X) == ("M-WINDOW", "1d 02:00")
    assert shown(only(world, "14:00:30").can_run_at) == "1d 02:00"
    assert world.poll("1d 02:00") == ["w.a.x rewrite"]


def test_one_behind_another_of_the_table_is_not_said_to_start_at_the_next_poll() -> None:
    world = TableWorld("p: {tables: w.a.x, operations: {rewrite_data_files: {}, expire_snapshots: {}}}", X)
    first, second = of_table(world, "00:00:30")
    assert (first.headline, shown(first.can_run_at)) == (
        "ready: the poll at 2026-03-10 00:01:00Z may start it",
        "00:01",
    )
    assert second.headline == (
        "ready: the poll at 2026-03-10 00:01:00Z may start rewrite_data_files first, "
        "and a later poll this one"
    )
    assert second.can_run_at is None


WHEN = """
p:
  tables: w.a.x
  operations:
    rewrite_data_files:
      interval: 1h
      when: {any: [{small_files: 100}, {files: 50}], min_interval: 3h, at_latest: 1d}
"""


def test_conditions_in_their_order() -> None:
    world = TableWorld(WHEN, X, blind=True)
    unknown = only(world, "00:00:30")
    assert unknown.headline.startswith("M-HEALTH")
    assert unmet(unknown)[0] == (
        "health: nothing is known of the table; it is measured before a poll decides"
    )
    assert unknown.can_run_at is None
    world.measures[X] = None
    world.measure("00:00:40")
    assert "could not be measured at 2026-03-10 00:00:40Z: no such catalog" in unmet(only(world, "00:01"))[0]
    world.sick(X, small_files=10)
    world.measure("00:02", X)
    few = only(world, "00:02:30")
    assert [(each.kind, each.what) for each in few.missing] == [
        ("when", "small_files of at least 100 or files of at least 50")
    ]
    assert shown(few.missing[0].by) == "1d 00:00", "at_latest counts from the first poll that saw the table"
    assert "measured 20m ago, which is too long" in unmet(only(world, "00:22"))[0]
    world.sick(X, small_files=100)
    world.measure("00:30", X)
    world.poll("00:31")
    world.end_all("00:32")
    world.measure("02:00", X)
    pause = only(world, "02:00:30")
    assert pause.headline.startswith("M-INTERVAL")
    assert unmet(pause) == ["min_interval: 3h after a successful run; last 2026-03-10 00:32:00Z"]
    assert shown(pause.can_run_at) == "03:32"
    forced = only(world, "2d 00:00")
    assert [each.kind for each in forced.constraints] == ["table", "backoff", "throttle", "at_latest"]
    assert forced.headline.startswith("ready")


def test_a_pause_without_thresholds() -> None:
    world = TableWorld("p: {tables: w.a.x, operations: {rewrite_data_files: {when: {min_interval: 3h}}}}", X)
    kinds = ["table", "backoff", "throttle", "min_interval"]
    found = only(world, "00:00:30")
    assert [each.kind for each in found.constraints] == kinds
    assert found.constraints[-1].summary == "3h after a successful run; no run has succeeded yet"


def test_all_thresholds_are_named_where_all_are_needed() -> None:
    world = TableWorld(WHEN.replace("any:", "all:").replace(", at_latest: 1d", ""), X)
    world.tick("00:00:30")
    assert only(world, "00:00:40").missing[0].what == "small_files of at least 100 and files of at least 50"


def test_back_off_and_the_probe_after_a_throttle() -> None:
    settings = "backoff: {after_failures: 1, for: 6h}, throttle: {after_zero_changes: 1, at_least: 2h}"
    world = TableWorld(maintenance=settings)
    world.found("00:00", X)
    world.poll("00:00")
    world.end_all("00:01", "failed")
    failed = only(world, "01:30")
    assert unmet(failed) == ["backoff: 1 failure in a row, of 1"]
    assert shown(failed.can_run_at) == "06:00"
    world.poll("06:00")
    world.end_all("06:01", changed=False)
    assert unmet(only(world, "07:30")) == [
        "throttle: 1 run in a row without a change, of 1; the next one is a probe"
    ]
    probe = only(world, "08:00")
    assert probe.headline == "ready: the poll at 2026-03-10 08:00:00Z may start it, as a probe"


def test_budgets_and_slots_with_what_holds_them() -> None:
    world = TableWorld(
        "p: {tables: 'w.a.*', operations: {rewrite_data_files: {}, expire_snapshots: {}}}",
        X,
        "w.a.y",
        maintenance=f"budget: {BUDGET}, auto_pools: {{spark: 2}}",
        schedules=IN_THE_GROUP,
    )
    world.poll("00:00")
    with world.store.transaction() as transaction:
        seen = [
            RunObservation(
                run_id=f"of-{name}", program=f"a/{name}", status=RunStatus.STARTED, at=at("00:00:10")
            )
            for name in ("p", "q")
        ]
        observe_runs(transaction, seen, at("00:00:10"))
    found = only(world, "00:00:30", "w.a.y")
    assert unmet(found) == [
        "budget: 1 of 1 tables since the poll, 1 of 9 operations since the poll, 0 bytes of 1GB in this hour",
        "concurrency: all slots of group spark are taken, 2 of 2",
    ]
    (slots,) = [each for each in found.constraints if each.kind == "concurrency"]
    (run,) = world.running()
    assert [each.summary for each in slots.parts] == [
        f"job {run.job} of a/policy:p[w.a.x rewrite_data_files], LAUNCHED",
        "run of-q of a/q, started",
    ]
    assert found.missing[-1].what == "a free slot of group spark"
    assert found.can_run_at is None
    held = only(world, "00:00:30", X, EXPIRE)
    assert held.missing[0].what == "the end of the running operation"
    world.end_all("00:02", bytes=2_000_000_000)
    spent = only(world, "00:30", "w.a.y")
    assert spent.headline.startswith("M-BUDGET")
    assert shown(spent.missing[0].by) == "01:00"


def test_what_pipelines_write() -> None:
    world = TableWorld(
        "p: {tables: a/out, operations: {rewrite_data_files: {}, expire_snapshots: {}}}",
        maintenance="poll: 1h",
        schedules=WRITES_OUT,
    )
    free = only(world, "00:00:30", "a/out")
    assert [each.summary for each in free.constraints if each.kind == "busy"] == ["no pipeline writes it"]
    assert "busy" not in [each.kind for each in only(world, "00:00:30", "a/out", EXPIRE).constraints]
    world.arrive("00:01", "raw", "2026-03-01")
    world.arrive("00:01", "out", "2026-03-01", "2026-03-02")
    world.tick("00:01:30")
    some = only(world, "00:01:30", "a/out")
    assert [each.summary for each in some.constraints if each.kind == "busy"] == [
        "1 partition left out, which pipelines write (1 job)"
    ]
    world.arrive("00:02", "raw", "2026-03-02")
    world.tick("00:02:30")
    busy = only(world, "00:02:30", "a/out")
    assert busy.headline.startswith("M-BUSY")
    (verdict,) = [each for each in busy.constraints if not each.met]
    assert verdict.summary == "pipelines write every partition of it (2 jobs)"
    assert [part.summary.split("of ")[1] for part in verdict.parts] == [
        "a/s[2026-03-01], PENDING_CONSTRAINT",
        "a/s[2026-03-02], PENDING_CONSTRAINT",
    ]
    assert busy.missing[0].what == "the end of the jobs that write its partitions"


def test_operations_by_hand() -> None:
    world = TableWorld(maintenance="auto_pools: {spark: 1}")
    world.found("00:00", X, "w.a.y")
    (running,) = world.by_hand("00:00:10", X)
    (waiting,) = world.by_hand("00:00:20", "w.a.y")
    found = of_job(world, "00:00:30", waiting.id)
    assert (found.status, found.headline[:13]) == ("by hand", "W-CONCURRENCY")
    assert [each.kind for each in found.constraints] == ["table", "concurrency"]
    assert found.trigger.kind == "by_hand"
    assert of_job(world, "00:00:30", running.id).headline.startswith("PENDING_LAUNCH: its run is asked for")
    assert [each.status for each in of_table(world, "00:00:30", "w.a.y")] == ["enabled", "by hand"]


def test_a_waiting_job_and_one_whose_policy_has_gone() -> None:
    world = TableWorld(WHEN + "    expire_snapshots: {window: {from: '02:00', to: '03:00'}}\n", X)
    world.poll("00:00")
    waiting = next(job for job in world.jobs() if job.work.operation is REWRITE)
    found = of_job(world, "00:00:30", waiting.id)
    assert found.headline.startswith("M-CONDITION")
    assert found.history
    assert found.job.id == waiting.id
    world.deploy("00:01", "q: {tables: w.a.y, operations: {}}")
    gone = of_job(world, "00:02", waiting.id)
    assert gone.status == "not configured any longer"
    assert gone.headline.startswith("DISCARDED (D-DELETED")
    assert of_table(world, "00:02") == ()


def test_an_operation_that_failed_says_why() -> None:
    world = TableWorld()
    world.found("00:00", X)
    world.poll("00:00")
    (run,) = world.running()
    note_failure(world.store, run.job, 1, f"run-{run.job}", "no memory", at("00:01"))
    world.observe("00:02", run.job, "failed")
    assert "FAILED (F-RUN" in of_job(world, "00:03", run.job).headline
    assert "no memory" in of_job(world, "00:03", run.job).headline


def test_a_table_that_the_store_does_not_know_has_no_operations() -> None:
    assert of_table(TableWorld(), "00:01", "w.nowhere.t") == ()
