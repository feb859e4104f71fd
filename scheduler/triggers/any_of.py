"""`any`: satisfied while one member is, from the moment the first of them was."""

from compiler.model import AnyTrigger
from scheduler.triggers.at_least import judge_members
from scheduler.triggers.collected import Sight
from scheduler.triggers.judged import Judged, Member


def judge(trigger: AnyTrigger, path: str, sight: Sight, member: Member) -> Judged:
    """See `scheduler.triggers.tree`."""
    return judge_members(trigger, "any", 1, path, sight, member)
