"""What makes a scenario fail: each is wrong in one thing, and the failure says what."""

import pytest

from tests.scheduler.simulation.app_under_test import (
    ARRIVES,
    GIVEN,
    ONLY,
    START,
    TRIGGERED,
    played,
)

FAILING = {
    "a launch that does not come": (
        f"{START}\nexpect: [{{at: +0s, launch: by_day}}]",
        "launched by_day",
        "nothing of the kind",
    ),
    "a launch at another time": (
        f"{GIVEN} [{ARRIVES}]\n{ONLY} [{{at: +1m, launch: by_day}}]",
        "12:01:00-04:00 launched by_day",
        "12:00:00-04:00 launched by_day[2026-03-09] partitions [2026-03-09] args {'n': 1}",
    ),
    "a launch with other partitions": (
        f"{GIVEN} [{ARRIVES}]\n{ONLY} [{{launch: by_day, partitions: [2026-03-08]}}]",
        "at any time launched by_day partitions [2026-03-08]",
        "partitions [2026-03-09]",
    ),
    "a launch with other args": (
        f"{GIVEN} [{ARRIVES}]\n{ONLY} [{{launch: by_day, args: {{n: 2}}}}]",
        "args {'n': 2}",
        "args {'n': 1}",
    ),
    "a launch too many": (
        f"{START}\ngiven: [{ARRIVES}]\nuntil: +30s",
        "no launch, start, discard or refusal that is not listed",
        "launched by_day",
    ),
    "a launch expected twice": (
        f"{START}\ngiven: [{ARRIVES}]\nuntil: +30s\nexpect: [{{launch: by_day}}, {{launch: by_day}}]",
        "launched by_day",
        "nothing of the kind",
    ),
    "a discard too many": (
        f"{GIVEN} [{TRIGGERED}, {{at: +0s, resume: joined}}, {{at: +1m, suspend: joined}}]",
        "no launch, start, discard or refusal that is not listed",
        "discarded joined D-SUSPENDED",
    ),
    "another reason of a discard": (
        f"{GIVEN} [{TRIGGERED}, {{at: +0s, resume: joined}}, {{at: +1m, suspend: joined}}]"
        "\nexpect_only: []\nexpect: [{discarded: joined, reason: D-TIMEOUT}]",
        "at any time discarded joined D-TIMEOUT",
        "discarded joined D-SUSPENDED",
    ),
    "a refusal that was not expected": (
        f"{START}\nexpect_only: []\ngiven: [{{at: +0s, update: {{nightly: {{program: unknown}}}}}}]",
        "no launch, start, discard or refusal that is not listed",
        "refused nightly N302",
    ),
    "a refusal that does not come": (
        f"{START}\nexpect: [{{refused: N302}}]",
        "refused N302",
        "nothing of the kind",
    ),
    "a job that does not wait": (
        f"{START}\nexpect: [{{at: +1m, waiting: joined, reason: W-WINDOW}}]",
        "12:01:00-04:00 waiting joined W-WINDOW",
        "no job at all",
    ),
    "a job that waits for something else": (
        f"{GIVEN} [{TRIGGERED}]\n"
        "expect: [{at: +1m, waiting: joined, reason: W-DELAY, next_check: +3h, collected: 4}]",
        "waiting joined W-DELAY, next check 2026-03-10 15:00:00-04:00, 4 collected",
        "waiting joined W-WINDOW, next check 2026-03-10 22:00:00-04:00, 0 collected",
    ),
    "a next check at another time": (
        f"{GIVEN} [{TRIGGERED}]\nexpect: [{{at: +1m, waiting: joined, next_check: +3h}}]",
        "waiting joined for any reason, next check 2026-03-10 15:00:00-04:00",
        "next check 2026-03-10 22:00:00-04:00",
    ),
    "a job where none should be": (
        f"{GIVEN} [{TRIGGERED}]\nexpect: [{{at: +1m, none: joined}}]",
        "no job of joined",
        "waiting joined W-WINDOW",
    ),
    "a running job where none should be": (
        f"{GIVEN} [{ARRIVES}]\n{ONLY} [{{at: +1s, none: by_day}}]",
        "no job of by_day",
        "a launched job",
    ),
}


@pytest.mark.parametrize("name", FAILING)
def test_fails_and_says_what_was_expected_and_what_was_observed(name: str) -> None:
    example, expected, observed = FAILING[name]
    performance = played(example)
    assert not performance.ok
    assert [
        failure
        for failure in performance.failures
        if expected in failure.expected and observed in failure.observed
    ], "\n".join(map(str, performance.failures))
    assert all(failure.at.file == "a.yaml" and failure.at.line > 20 for failure in performance.failures)


def test_an_event_that_was_dropped_may_be_expected_with_its_reason_and_need_not_be() -> None:
    early = "{at: +0s, partitions: {dataset: raw, keys: [2027-03-09]}}"
    example = f"{GIVEN} [{early}]\nexpect_only: []"
    assert played(example).ok
    assert played(f"{example}\nexpect: [{{at: +0s, discarded: by_day, reason: D-KEY}}]").ok
    for wrong in ("{discarded: by_day}", "{discarded: by_day, reason: D-SUSPENDED}"):
        assert not played(f"{example}\nexpect: [{wrong}]").ok
