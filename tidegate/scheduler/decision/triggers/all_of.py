"""`all`: satisfied while every member is, from the moment the last of them was."""

from tidegate.domain.model import AllTrigger
from tidegate.scheduler.decision.triggers.at_least import judge_members
from tidegate.scheduler.decision.triggers.collected import Sight
from tidegate.scheduler.decision.triggers.judged import Judged, Member


def judge(trigger: AllTrigger, path: str, sight: Sight, member: Member) -> Judged:
    """See `scheduler.decision.triggers.tree`."""
    return judge_members(trigger, "all", len(trigger.of), path, sight, member)
