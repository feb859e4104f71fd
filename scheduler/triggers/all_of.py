"""`all`: satisfied while every member is, from the moment the last of them was."""

from compiler.model import AllTrigger
from scheduler.triggers.at_least import judge_members
from scheduler.triggers.collected import Sight
from scheduler.triggers.judged import Judged, Member


def judge(trigger: AllTrigger, path: str, sight: Sight, member: Member) -> Judged:
    """See `scheduler.triggers.tree`."""
    return judge_members(trigger, "all", len(trigger.of), path, sight, member)
