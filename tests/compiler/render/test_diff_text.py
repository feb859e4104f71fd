"""The text of a difference: numbers of what is lost, renames, watermarks left behind, and blocks."""

import msgspec
import pytest

from tidegate.compiler.plan.blocked import Blocked
from tidegate.compiler.plan.consequence import Consequence
from tidegate.compiler.plan.diff import Diff, diff
from tidegate.compiler.plan.left_behind import LeftBehind
from tidegate.compiler.plan.renames import Renames
from tidegate.compiler.render.diff_text import consequence_text, diff_text


def lines(**changes: object) -> list[str]:
    """The lines of a difference without changes of apps, before the empty line."""
    difference: Diff = msgspec.structs.replace(diff({}, {}), **changes)
    return diff_text(difference).split("\n\n")[0].splitlines()


@pytest.mark.parametrize(
    ("consequence", "text"),
    [
        (Consequence(kind="drops", events=1), "1 collected event is discarded"),
        (Consequence(kind="drops", events=3), "3 collected events are discarded"),
    ],
)
def test_events_that_carried_jobs_lose(consequence: Consequence, text: str) -> None:
    assert consequence_text(consequence) == text


def test_renamed_parts_are_listed_and_those_that_only_follow_their_app_are_not() -> None:
    found = Renames(
        apps={"shop": "store"},
        programs={"shop/p": "store/q", "shop/same": "store/same"},
        datasets={"shop/raw": "store/landed"},
    )
    moved = "everything in the store moves with it"
    assert lines(renames=found)[:3] == [
        f"~ app store (renamed from shop; {moved})",
        f"~ program store/q (renamed from shop/p; {moved})",
        f"~ dataset store/landed (renamed from shop/raw; {moved})",
    ]
    assert "same" not in "".join(lines(renames=found))


def test_watermarks_left_behind_say_what_reads_again_and_how_to_keep_them() -> None:
    kept = LeftBehind(
        consumer="a/p", source="a/raw", parts=2, again=("a/p of a/raw",), remedy="write `renamed_from`"
    )
    gone = LeftBehind(consumer="a/q", source="a/raw", parts=1)
    assert lines(left=(kept, gone)) == [
        "warning: the watermarks of a/p in a/raw (2 parts) are left behind",
        "    the next run of a/p reads all of a/raw again",
        "hint: write `renamed_from`",
        "warning: the watermarks of a/q in a/raw (1 part) are left behind",
    ]


def test_what_blocks_a_deployment_is_refused_with_its_remedy() -> None:
    blocked = Blocked(summary="a/p cannot be renamed while it runs", remedy="wait for its end")
    assert lines(blocked=(blocked,)) == [
        "refused: a/p cannot be renamed while it runs",
        "hint: wait for its end",
    ]
