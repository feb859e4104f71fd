"""docs/job-states.md shows the transitions that the engine allows: all of them, and each once."""

import re
from pathlib import Path

from tidegate.scheduler.model.job import FINISHED, TRANSITIONS, JobState

PAGE = (Path(__file__).parents[2] / "docs" / "job-states.md").read_text("utf-8")
ARROW = re.compile(r"^ +(\[\*\]|\w+) --> (\[\*\]|\w+)(?:: \S.*)?$", re.MULTILINE)
OUTSIDE = "[*]"


def test_the_arrows_are_the_transitions() -> None:
    drawn = ARROW.findall(PAGE)
    assert len(drawn) == PAGE.count("-->"), "an arrow that is not understood"
    between = sorted((begin, end) for begin, end in drawn if OUTSIDE not in (begin, end))
    allowed = sorted(
        (str(begin), str(end)) for begin, ends in TRANSITIONS.items() for end in ends if begin is not end
    )
    assert between == allowed
    assert {begin for begin, end in drawn if end == OUTSIDE} == {str(state) for state in FINISHED}


def test_each_state_has_its_row() -> None:
    assert sorted(re.findall(r"^\| `([A-Z_]+)` \|", PAGE, re.MULTILINE)) == sorted(JobState)
