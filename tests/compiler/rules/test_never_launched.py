"""Windows and crons: a schedule is refused only if the engine's own clocks never let it launch."""

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from tidegate.compiler.compile import compile_files
from tidegate.domain.model import CronTrigger, Schedule
from tidegate.domain.time.fire_times import fires
from tidegate.scheduler.decision.constraints.window import is_open

APP = """\
app: a
timezone: Europe/Berlin
programs: {p: {run: jobs.p}}
schedules:
  s: {program: p, trigger: {cron: "CRON", timezone: ZONE}, constraints: [CONSTRAINTS], timeout: TIMEOUT}
"""
CRONS = ("30 2 * * *", "0 22 * * fri", "0 6 * * mon", "*/30 1-3 * * sun", "0 12 1 * *")
ZONES = ("Europe/Berlin", "America/New_York")
WINDOWS = (
    'window: {from: "03:00", to: "03:30", otherwise: skip}',
    'window: {from: "22:00", to: "06:00", days: [fri], otherwise: skip}',
    'window: {from: "06:01", to: "21:59", otherwise: skip}',
    'window: {from: "08:00", to: "09:00", days: [mon], otherwise: skip}',
)
YEARS = (datetime(2024, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))


def compiled(
    cron: str, zone: str, constraints: str, timeout: str = "24h"
) -> tuple[Schedule | None, set[str]]:
    """Return the schedule, None if it is refused, and the codes of its diagnostics."""
    text = APP.replace("CRON", cron).replace("ZONE", zone)
    text = text.replace("CONSTRAINTS", constraints).replace("TIMEOUT", timeout)
    found = compile_files({"a.yaml": text.encode()})
    app = found.apps.get("a")
    return app.app.schedules["s"] if app else None, {d.code for d in found.diagnostics}


@pytest.mark.parametrize(("cron", "zone", "window"), list(product(CRONS, ZONES, WINDOWS)))
def test_what_is_refused_does_not_fire_inside_its_window(cron: str, zone: str, window: str) -> None:
    schedule, codes = compiled(cron, zone, f"{{{window}}}")
    if schedule is not None:
        assert codes == set()
        return
    assert codes == {"L431"}
    allowed, _ = compiled(cron, zone, f"{{{window.replace(', otherwise: skip', '')}}}", "7d")
    assert allowed is not None
    hours = allowed.constraints[0].hours
    assert hours is not None
    trigger = CronTrigger(cron=cron, timezone=zone)
    assert not any(is_open(hours, fire) for fire in fires(trigger, *YEARS))


@pytest.mark.parametrize("cron", CRONS[:3])
@pytest.mark.parametrize("hours", [1, 5, 13, 24 * 3, 24 * 8])
def test_a_refused_timeout_ends_before_the_window_opens(cron: str, hours: int) -> None:
    window = '{window: {from: "08:00", to: "09:00", days: [tue, sat]}}'
    schedule, codes = compiled(cron, "America/New_York", window, f"{hours}h")
    allowed, _ = compiled(cron, "America/New_York", window, "30d")
    assert allowed is not None
    span = allowed.constraints[0].hours
    assert span is not None
    minutes = [timedelta(minutes=10 * number) for number in range(hours * 6 + 1)]
    trigger = CronTrigger(cron=cron, timezone="America/New_York")
    fired = list(fires(trigger, *YEARS))[:40:3]
    launched = any(is_open(span, fire + minute) for fire in fired for minute in minutes)
    assert (schedule is not None, codes) == ((True, set()) if launched else (False, {"L431"}))


SKIP = '{window: {from: "22:00", to: "06:00", otherwise: skip}}'
WAIT = '{window: {from: "22:00", to: "06:00"}}'

TABLE = [
    ("a fire inside", "0 23 * * *", SKIP, "24h", set[str]()),
    ("a delay into the window", "0 20 * * *", f"{{delay: 2h}}, {SKIP}", "24h", set[str]()),
    ("a delay out of it", "0 5 * * *", f"{{delay: 2h}}, {SKIP}", "24h", {"L431"}),
    ("clocks may change in a delay", "0 4 * * *", f"{{delay: 2h}}, {SKIP}", "24h", set[str]()),
    ("half a minute before its end", "59 3 * * *", f"{{delay: 7230s}}, {SKIP}", "24h", set[str]()),
    ("the later of two delays", "0 20 * * *", f"{{delay: 1h}}, {{delay: 2h}}, {SKIP}", "24h", set[str]()),
    (
        "another wait may last that long",
        "0 12 * * *",
        f"{{rate: {{max: 1, per: 1h}}}}, {SKIP}",
        "24h",
        {"L432"},
    ),
    ("another wait is too short", "0 12 * * *", f"{{rate: {{max: 1, per: 1h}}}}, {SKIP}", "2h", {"L431"}),
    ("the timeout launches it", "0 12 * * *", WAIT, "{after: 2h, then: run}", set[str]()),
    (
        "the timeout launches it outside",
        "0 12 * * *",
        f'{{window: {{from: "23:00", to: "23:30"}}}}, {SKIP}',
        "{after: 2h, then: run}",
        {"L431"},
    ),
    (
        "the timeout launches it inside",
        "0 21 * * *",
        f'{{window: {{from: "03:00", to: "03:30"}}}}, {SKIP}',
        "{after: 2h, then: run}",
        set[str](),
    ),
    ("it waits for the window", "0 12 * * *", WAIT, "10h", set[str]()),
    ("too short in summer and winter", "0 12 * * *", WAIT, "539m", {"L431"}),
    ("a delay beyond the timeout", "0 12 * * *", f"{{delay: 3h}}, {WAIT}", "2h", {"L433"}),
    (
        "a window opens inside the other",
        "0 12 * * *",
        f'{WAIT}, {{window: {{from: "21:00", to: "23:00", otherwise: skip}}}}',
        "24h",
        set[str](),
    ),
    (
        "a fire in both",
        "0 2 * * *",
        f'{WAIT}, {{window: {{from: "01:00", to: "03:00", otherwise: skip}}}}',
        "24h",
        set[str](),
    ),
    (
        "more zones than are compared",
        "0 12 * * *",
        ", ".join(
            f'{{window: {{from: "22:00", to: "06:00", timezone: {zone}, otherwise: skip}}}}'
            for zone in ("UTC", "Asia/Tokyo", "Europe/Paris", "America/Lima", "Africa/Cairo")
        ),
        "24h",
        set[str](),
    ),
]


@pytest.mark.parametrize(
    ("cron", "constraints", "timeout", "codes"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_one_row_for_each_sentence(cron: str, constraints: str, timeout: str, codes: set[str]) -> None:
    _, found = compiled(cron, "Europe/Berlin", constraints, timeout)
    assert found - {"L413"} == codes


TRIGGERS = [
    ("quiet moves it", '{cron: "0 12 * * *", quiet: 10h}', set[str]()),
    ("all of two crons", '{all: [{cron: "0 12 * * *"}, {cron: "0 13 * * *"}], wait_at_most: 1h}', set[str]()),
    ("a member waits", '{any: [{cron: "0 12 * * *", quiet: 10h}, {cron: "0 13 * * *"}]}', {"L432"}),
    ("other events too", '{any: [{cron: "0 12 * * *"}, {elapsed: {for: 4h}}]}', {"L432"}),
    (
        "other events are needed",
        '{at_least: {n: 2, of: [{cron: "0 12 * * *"}, {elapsed: {for: 4h}}]}}',
        set[str](),
    ),
    ("a quiet whole", '{any: [{cron: "0 12 * * *"}, {elapsed: {for: 4h}}], quiet: 1h}', set[str]()),
    ("one of two crons", '{any: [{cron: "0 12 * * *"}, {cron: "0 23 * * *"}]}', set[str]()),
]


@pytest.mark.parametrize(
    ("trigger", "codes"), [row[1:] for row in TRIGGERS], ids=[row[0] for row in TRIGGERS]
)
def test_only_fires_of_crons_are_foreseen(trigger: str, codes: set[str]) -> None:
    text = APP.replace('{cron: "CRON", timezone: ZONE}', trigger)
    text = text.replace("CONSTRAINTS", SKIP).replace("TIMEOUT", "24h")
    found = {d.code for d in compile_files({"a.yaml": text.encode()}).diagnostics}
    assert found - {"L406"} == codes


def test_limits_of_a_group_are_compared_across_apps() -> None:
    texts: dict[str, bytes] = {}
    for name, limit in (("one", 2), ("two", 3), ("three", 2)):
        constraint = f"{{concurrency: {{max: {limit}, group: heavy}}}}"
        text = APP.replace("app: a", f"app: {name}").replace("CONSTRAINTS", constraint)
        text = text.replace("CRON", "@daily").replace("ZONE", "UTC").replace("TIMEOUT", "24h")
        texts[f"{name}.yaml"] = text.encode()
    # In the order of their files.
    (found,) = compile_files(texts).diagnostics
    assert (found.code, found.at.file) == ("L434", "two.yaml")
    assert "max: 2 of one/s" in found.summary
    assert found.related[0].at.file == "one.yaml"


def test_an_app_without_schedules_has_no_unused_programs() -> None:
    assert compile_files({"a.yaml": b"app: a\nprograms: {p: {run: jobs.p}}\n"}).diagnostics == ()
