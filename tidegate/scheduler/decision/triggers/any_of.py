"""`any`: satisfied while one member is, from the moment the first of them was."""

from tidegate.domain.model import AnyTrigger
from tidegate.scheduler.decision.triggers.at_least import judge_members
from tidegate.scheduler.decision.triggers.collected import Sight
from tidegate.scheduler.decision.triggers.judged import Judged, Member


def judge(trigger: AnyTrigger, path: str, sight: Sight, member: Member) -> Judged:
    """See `scheduler.decision.triggers.tree`."""
    return judge_members(trigger, "any", 1, path, sight, member)
