"""The registry of codes: every diagnostic, reason and refusal, with its meaning, its cause and its remedy.

`tidegate explain` prints an entry; docs/diagnostics.md and docs/reasons.md are rendered from the same texts.
"""

import difflib
import re
from enum import StrEnum

from tidegate.compiler.diagnostics.catalogue import CATALOGUE
from tidegate.compiler.diagnostics.entry import FAMILIES
from tidegate.compiler.diagnostics.remedies import REMEDIES
from tidegate.domain.value import Value
from tidegate.scheduler.model.reason import CodeText, Reason
from tidegate.scheduler.model.reason_texts import REASON_TEXTS
from tidegate.scheduler.model.refused import REFUSALS

NEAR_MAX = 5
"""So many codes are named for an unknown one."""

REASON_HEADINGS = {
    "W": "W: waiting",
    "M": "M: maintenance",
    "D": "D: discarded",
    "L": "L: late",
    "F": "F: failed",
    "E": "E: refused",
}
"""The headings of docs/reasons.md by the first letter of a code."""

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


class CodeKind(StrEnum):
    """What has the code."""

    DIAGNOSTIC = "diagnostic"
    REASON = "reason"
    REFUSAL = "refusal"


class Code(Value, kw_only=True):
    """One code.

    Attributes:
        severity: of a diagnostic; None of the others.
        meaning: in a few words.
        page: page and heading of the documentation, such as "reasons.md#w-waiting".
    """

    code: str
    kind: CodeKind
    severity: str | None = None
    meaning: str
    cause: str
    remedy: str
    page: str


def registry() -> dict[str, Code]:
    """Return every code by its name, in the order of the documentation."""
    found = [_diagnostic(code) for code in CATALOGUE]
    found += [
        _of_scheduler(reason.value, CodeKind.REASON, reason.summary, REASON_TEXTS[reason])
        for reason in Reason
    ]
    found += [_of_scheduler(code, CodeKind.REFUSAL, text.meaning, text) for code, text in REFUSALS.items()]
    return {each.code: each for each in found}


def near(code: str, known: dict[str, Code]) -> list[str]:
    """Return the codes that are most like an unknown one: those of its family, or that begin with it."""
    wanted = code.upper()
    begun = [each for each in known if wanted and each.startswith(wanted)]
    return begun[:NEAR_MAX] or difflib.get_close_matches(wanted, known, n=NEAR_MAX, cutoff=0.5)


def plain(markdown: str) -> str:
    """Return a text without its links."""
    return _LINK.sub(r"\1", markdown)


def _diagnostic(code: str) -> Code:
    entry = CATALOGUE[code]
    heading = f"{code[0]}: {FAMILIES[code[0]]}"
    return Code(
        code=code,
        kind=CodeKind.DIAGNOSTIC,
        severity=entry.severity,
        meaning=entry.title,
        cause=entry.explanation,
        remedy=REMEDIES[code],
        page=f"diagnostics.md#{_anchor(heading)}",
    )


def _of_scheduler(code: str, kind: CodeKind, meaning: str, text: CodeText) -> Code:
    return Code(
        code=code,
        kind=kind,
        meaning=meaning,
        cause=plain(text.cause),
        remedy=plain(text.remedy),
        page=f"reasons.md#{_anchor(REASON_HEADINGS[code[0]])}",
    )


def _anchor(heading: str) -> str:
    return heading.lower().replace(":", "").replace(" ", "-")
