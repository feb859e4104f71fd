"""`elapsed` in the engine: clocks that runs and events wind, and the fires that they give."""

from tests.worlds.world import World, at

EVERY_FOUR_HOURS = "s: {program: q, status: active, trigger: {elapsed: {for: 4h}}}"
SILENCE = "s: {program: q, status: active, trigger: {elapsed: {for: 1h, since: last_event, dataset: raw}}}"


def fired(world: World) -> list[str]:
    """When the trigger of each job was satisfied."""
    return [f"{job.satisfied_at:%H:%M}" for job in world.jobs("s") if job.satisfied_at is not None]


def test_it_counts_from_the_activation_where_there_was_no_run():
    world = World(EVERY_FOUR_HOURS, start="01:00")
    for clock in ("01:00", "04:59"):
        world.tick(clock)
    assert world.jobs("s") == ()
    world.tick("05:00")
    assert fired(world) == ["05:00"]


def test_it_counts_anew_from_the_end_of_the_programs_last_run_whoever_started_it():
    world = World(EVERY_FOUR_HOURS)
    world.run("02:00", "q", "started", "by-hand")
    world.run("03:00", "q", "failed", "by-hand")
    world.tick("06:59")
    assert world.jobs("s") == ()
    world.tick("07:00")
    assert fired(world) == ["07:00"]


def test_it_goes_on_while_no_run_ends():
    world = World(
        "s: {program: q, status: active, trigger: {elapsed: {for: 4h}}, timeout: 1h,"
        ' constraints: [{window: {from: "01:00", to: "02:00"}}]}'
    )
    for hour in range(24):
        world.tick(f"{hour:02}:00")
    assert fired(world) == ["04:00", "08:00", "12:00", "16:00", "20:00"]
    assert {str(job.reason) for job in world.jobs("s")} == {"D-TIMEOUT"}


def test_a_run_that_ended_while_the_scheduler_was_away_has_wound_the_clock():
    world = World(EVERY_FOUR_HOURS)
    world.tick("00:00")
    world.run("05:00", "q", "started", "by-hand")
    world.run("05:30", "q", "succeeded", "by-hand")
    world.tick("06:00")
    assert world.jobs("s") == () or fired(world) == []


def test_a_silence_fires_once():
    world = World(SILENCE)
    world.arrive("00:30", "raw", "2026-03-01")
    for hour in range(8):
        world.tick(f"{hour:02}:30")
    assert fired(world) == ["01:30"]
    world.arrive("09:00", "raw", "2026-03-02")
    for clock in ("09:00", "09:59", "10:00", "12:00"):
        world.tick(clock)
    assert fired(world) == ["01:30", "10:00"]


def test_an_event_within_the_time_ends_the_silence():
    world = World(SILENCE)
    world.tick("00:00")
    world.arrive("00:40", "raw", "2026-03-01")
    world.tick("00:40")
    world.tick("01:00")
    assert world.jobs("s") == ()
    world.tick("01:40")
    assert fired(world) == ["01:40"]


def test_what_winds_a_clock_is_no_delivery():
    world = World(SILENCE)
    world.arrive("00:30", "raw", "2026-03-01")
    world.tick("00:30")
    with world.store.reading() as reader:
        assert reader.ledger() == ()
        assert [entry.data["from"] for entry in reader.journal() if entry.kind == "clock"][-1] == (
            at("00:30").isoformat()
        )


def test_a_suspended_schedule_has_no_clock_and_starts_anew_when_it_is_resumed():
    world = World(EVERY_FOUR_HOURS)
    world.suspend("01:00", "s")
    world.tick("06:00")
    world.resume("06:00", "s")
    for clock in ("06:00", "09:59"):
        world.tick(clock)
    assert world.jobs("s") == ()
    world.tick("10:00")
    assert fired(world) == ["10:00"]


def test_whichever_comes_first():
    world = World(
        "s: {program: q, status: active, trigger: {any: [{elapsed: {for: 4h}},"
        " {size: {dataset: raw, rows: 10}}]}}"
    )
    world.tick("04:00")
    (job,) = world.launch_all("04:00")
    world.end("04:30", job)
    for clock in ("06:00", "08:29"):
        world.tick(clock)
    assert fired(world) == ["04:00"]
    world.tick("08:30")
    assert fired(world) == ["04:00", "08:30"]
