"""A plan as Markdown, for a comment in a pull request.

Its first line is the same for all plans of a project in an environment, so that a CI finds its comment of
before and writes over it. It is shorter than what code hosts take; what is left out is said.
"""

import re
from collections.abc import Iterable

from tidegate.compiler.plan.diff import Diff

COMMENT_CHARACTERS = 60_000
"""GitHub takes 65,536 in a comment; the rest is for what others put around it."""

LEFT_OUT = "… {} more lines; `tidegate plan` prints all of them"


def plan_markdown(project: str, environment: str, difference: Diff, lines: Iterable[str]) -> str:
    """Return a plan as Markdown.

    Args:
        environment: its name; "" for none.
        lines: of the plan as text.
    """
    where = f"`{_plain(project)}`" + (f" in `{environment}`" if environment else "")
    said = "would be refused" if difference.refused else "changes nothing" if difference.empty else "changes"
    text = "\n".join(lines)
    # Longer than any in the text, which may show a query with fences in a comment.
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    head = f"{marker(project, environment)}\n### A deployment of {where} {said}\n\n{fence}diff\n"
    foot = f"\n{fence}\n"
    room = COMMENT_CHARACTERS - len(head) - len(foot) - len(LEFT_OUT) - len(str(COMMENT_CHARACTERS))
    if len(text) > room:
        kept = text[:room].rpartition("\n")[0] or text[:room]
        left = text[len(kept) :].count("\n")
        text = f"{kept}\n{LEFT_OUT.format(left)}"
    return f"{head}{text}{foot}"


def marker(project: str, environment: str) -> str:
    """Return the first line of every comment for an environment of a project, which readers do not see."""
    return f"<!-- tidegate plan: {_plain(f'{project} {environment}'.strip())} -->"


def _plain(name: str) -> str:
    """Return a name without what Markdown or HTML would read."""
    return re.sub(r"[^\w .-]", "_", name)
