"""Rules on docs/rules.md: every rule that is cited exists, and every rule links to an existing scenario."""

import re
from collections.abc import Collection, Iterator, Mapping

from tests.tidy.finding import Finding

RULES_FILE = "docs/rules.md"

CITED = re.compile(r"\brules?\s+(\d+(?:,\s+\d+)*(?:,?\s+and\s+\d+)?)\b")
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
NUMBER = re.compile(r"(\d+)\. ")
SHOWN_BY = re.compile(r"^Shown by: \[(.+)\]\(\.\./(schedules/\S+\.yaml)\)$", re.MULTILINE)


def rules(text: str) -> frozenset[int]:
    """The numbers of the rules that the text of docs/rules.md has."""
    return frozenset(
        int(number.group(1))
        for heading in HEADING.finditer(text)
        if (number := NUMBER.match(heading.group(1)))
    )


def check_cited(path: str, text: str, known: Collection[int]) -> Iterator[Finding]:
    """Citations such as "rule 12" or "rules 11 and 24" of a rule that does not exist."""
    for citation in CITED.finditer(text):
        for number in map(int, re.findall(r"\d+", citation.group(1))):
            if number not in known:
                line = text.count("\n", 0, citation.start()) + 1
                yield Finding(path=path, line=line, message=f"rule {number} is not in {RULES_FILE}")


def check_shown(text: str, scenarios: Mapping[str, Collection[str]]) -> Iterator[Finding]:
    """Rules without a link to a scenario, and links to scenarios that do not exist.

    Args:
        scenarios: the names of the scenarios by the path of their file.
    """
    headings = [*HEADING.finditer(text)]
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    for heading, end in zip(headings, ends, strict=True):
        line = text.count("\n", 0, heading.start()) + 1
        links = SHOWN_BY.findall(text, heading.start(), end)
        if not links:
            message = f"{heading.group(1)!r} has no line `Shown by: [scenario](../schedules/FILE)`"
            yield Finding(path=RULES_FILE, line=line, message=message)
        for name, file in links:
            if name not in scenarios.get(file, ()):
                yield Finding(path=RULES_FILE, line=line, message=f"{file} has no scenario {name!r}")
