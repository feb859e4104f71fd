"""The rule for `business_date: previous_business_day` of a task: it counts days, and a calendar has some."""

from tidegate.compiler.reader.node import MappingNode
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model import Calendar, Cycle
from tidegate.domain.time.calendar import has_every_week
from tidegate.domain.wording import with_article


def check_business_date(node: MappingNode, cycle: Cycle, calendar: Calendar | None, scope: Scope) -> None:
    """Report `previous_business_day` of a task of hours or minutes, or with a calendar of single days."""
    if "business_date" not in node.values:
        return
    if cycle in ("minute", "hour"):
        scope.findings.add(
            "L440",
            node.keys["business_date"],
            f"`previous_business_day` is a day, got a task whose business date is {with_article(cycle)}",
            "delete `business_date`, or choose `cycle: day`",
        )
    elif calendar is not None and not has_every_week(calendar):
        scope.findings.add(
            "L440",
            node.keys["business_date"],
            f'`previous_business_day` needs business days in every week, got calendar "{calendar.name}" with'
            " a weekend of seven days",
            "delete `business_date`, or choose another calendar",
        )
