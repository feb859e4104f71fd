"""The reasons and refusals as Markdown: the text of docs/reasons.md."""

from collections.abc import Iterator

from tidegate.scheduler.explain.codes import REASON_HEADINGS
from tidegate.scheduler.model.reason import CodeText, Reason
from tidegate.scheduler.model.reason_texts import REASON_TEXTS
from tidegate.scheduler.model.refused import REFUSALS

_INTRODUCTION = """\
# Reasons

Every wait, discard and failure has one of these codes ([rule 25](rules.md#25-reason-codes)). The journal,
`tidegate why`, `tidegate jobs`, the Dagster UI and scenarios show them, and a code never changes its
meaning. With several conditions unmet the reason is the first in the order in which they are checked;
`tidegate why` shows all. `tidegate explain CODE` prints one of them, and one of the
[diagnostics](diagnostics.md) too. This page is rendered from the same texts.
"""

_BEFORE = {
    "W": "The job runs once the condition holds. `why` and `jobs` show when it is looked at, where"
    " time alone decides.",
    "M": "An [operation on a table](maintenance.md) is due and waits. When several of these hold, the first"
    " of the table is reported.",
    "D": "No run was made of the job. Its events are in the ledger as discarded, under the same code.",
    "L": "Beside another code: a late job goes on as before.",
    "E": "A command or a call was refused, and changed nothing. Over HTTP the problem has it as `code`"
    " ([rest.md](rest.md)).",
}

_AFTER = {
    "M": "After these it waits with `W-CONCURRENCY` if a pool of `auto_pools` has no free slot.",
    "D": """\
An instance of a task that a timeout or a `skip` ends has a `D-` code too, and is `FAILED`: its consumers go
on waiting for it, until `tidegate instances rerun` or `mark`.

A job that is abandoned between two attempts has a `D-` code too, but is `FAILED`: it has had a run
([rule 26](rules.md#26-further-attempts)).""",
}

_COLUMNS = {
    "W": ("the job waits because", "what ends the wait"),
    "M": ("the operation waits because", "what ends the wait"),
    "D": ("the job was discarded because", "what to do if that is not wanted"),
    "L": ("the job is late because", "what to do"),
    "F": ("the job failed because", "what to do"),
    "E": ("it was refused because", "what to do"),
}


def reasons_markdown() -> str:
    """Return the whole document, with a table for each first letter."""
    parts = [_INTRODUCTION]
    for letter, heading in REASON_HEADINGS.items():
        before, after = _BEFORE.get(letter), _AFTER.get(letter)
        parts.append(f"## {heading}\n")
        parts += [f"{before}\n"] if before else []
        parts.append("".join(f"{line}\n" for line in _table(letter)))
        parts += [f"{after}\n"] if after else []
    return "\n".join(parts)


def _table(letter: str) -> Iterator[str]:
    yield f"| code | {' | '.join(_COLUMNS[letter])} |"
    yield "|---|---|---|"
    texts: dict[str, CodeText] = {reason.value: REASON_TEXTS[reason] for reason in Reason} | REFUSALS
    for code, text in texts.items():
        if code.startswith(letter):
            yield f"| `{code}` | {text.cause} | {text.remedy} |"
