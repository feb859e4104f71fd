"""When people hear of an incident: at once, then with a count, and once when it is well again."""

from datetime import timedelta

from tests.worlds.world import at
from tidegate.scheduler.decision.alerts import OPEN_MAX, Said, is_owed, troubled, well, window_over
from tidegate.scheduler.model.records.alert import AlertKind, Happening, Incident, Message

HOUR = timedelta(hours=1)


def fails(clock: str, before: Incident | None = None, cause: str = "") -> Said:
    happening = Happening(kind=AlertKind.FAILED, subject="a/s", cause=cause, at=at(clock), text=clock)
    return troubled(before, happening, "p", HOUR)


def kept(said: Said) -> Incident:
    assert said.incident is not None
    return said.incident


def spoken(said: Said) -> Message:
    assert said.message is not None
    return said.message


def test_the_first_failure_is_heard_at_once_and_the_next_ones_are_counted() -> None:
    first = fails("10:00")
    assert spoken(first).count == 1
    second, third = fails("10:10", kept(first)), None
    third = fails("10:59", kept(second))
    assert (second.message, third.message) == (None, None)
    assert is_owed(kept(third))
    over = window_over(kept(third), at("11:00"), HOUR)
    assert (spoken(over).count, spoken(over).text, spoken(over).since) == (3, "10:59", at("10:00"))
    assert kept(over).quiet_until == at("12:00")


def test_a_failure_after_the_window_is_heard_at_once() -> None:
    assert spoken(fails("11:00", kept(fails("10:00")))).count == 2


def test_it_is_well_again_once_and_only_after_an_alert() -> None:
    failed = kept(fails("10:00"))
    over = well(failed, "", at("10:30"))
    assert (spoken(over).kind, spoken(over).recovered_from) == (AlertKind.RECOVERED, AlertKind.FAILED)
    assert well(kept(over), "", at("10:40")).message is None


def test_failing_and_recovering_in_turns_is_counted_and_recovers_quietly() -> None:
    once = kept(well(kept(fails("10:00")), "", at("10:05")))
    again = fails("10:10", once)
    assert again.message is None
    quiet = well(kept(again), "", at("10:15"))
    assert quiet.message is None
    summary = window_over(kept(quiet), at("11:00"), HOUR)
    assert spoken(summary).count == 2
    assert not kept(summary).alarmed, "it is well, so no recovery is due"
    assert window_over(kept(summary), at("12:00"), HOUR) == Said(None, None)


def test_each_key_has_to_become_well() -> None:
    both = kept(fails("10:01", kept(fails("10:00", cause="mon")), cause="tue"))
    first = well(both, "mon", at("10:30"))
    assert first.message is None
    assert well(kept(first), "wed", at("10:31")).message is None
    assert spoken(well(kept(first), "tue", at("10:32"))).kind is AlertKind.RECOVERED


def test_an_open_incident_is_remembered_after_its_window() -> None:
    failed = kept(fails("10:00"))
    assert not is_owed(failed)
    assert kept(window_over(failed, at("11:00"), HOUR)) == failed


def test_the_causes_that_are_remembered_are_bounded() -> None:
    incident = kept(fails("10:00"))
    for number in range(OPEN_MAX + 100):
        incident = kept(fails("10:01", incident, cause=f"k{number}"))
    assert len(incident.open) == OPEN_MAX
    assert incident.open[-1] == f"k{OPEN_MAX + 99}"
