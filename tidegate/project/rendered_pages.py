"""The pages of docs/ that are rendered: diagnostics, reasons and refusals, and settings.

`make pages` writes them again, and tests compare them.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tidegate.compiler.diagnostics.catalogue import CATALOGUE
from tidegate.compiler.diagnostics.entry import FAMILIES
from tidegate.compiler.diagnostics.remedies import REMEDIES
from tidegate.project.environment import READ, SET
from tidegate.project.settings.language import SECTIONS, keys_of
from tidegate.scheduler.explain.codes import REASON_HEADINGS
from tidegate.scheduler.model.reason import CodeText, Reason
from tidegate.scheduler.model.reason_texts import REASON_TEXTS
from tidegate.scheduler.model.refused import REFUSALS

_OF_DIAGNOSTICS = (
    "# Diagnostics",
    "",
    "Every message of `tidegate lint` and `tidegate plan` has one of these codes. Errors stop a deployment.",
    "Warnings do not, but `tidegate lint --strict` fails on them. Notes never stop anything. This page is",
    "rendered from `tidegate/compiler/diagnostics/`, and `tidegate explain CODE` prints one of them.",
)

_CODES_HEAD = ("| code | severity | title | explanation | what to do |", "|---|---|---|---|---|")


def catalogue_markdown() -> str:
    """Return the whole document, with a table for each family of codes."""
    lines = [*_OF_DIAGNOSTICS]
    for letter, family in FAMILIES.items():
        lines += ["", f"## {letter}: {family}", "", *_CODES_HEAD]
        for code, entry in CATALOGUE.items():
            if code.startswith(letter):
                cells = (code, entry.severity, entry.title, entry.explanation, REMEDIES[code])
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


_OF_REASONS = """\
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
    parts = [_OF_REASONS]
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


_OF_SETTINGS = (
    "# Settings",
    "",
    "A project is a folder with a `tidegate.toml`. Every section and key may be left out, so that an empty",
    "file makes a project. Paths are relative to the file. An unknown key, a wrong type or a wrong value is",
    "refused, with the remedy. `[env.NAME.SECTION]` has the keys that differ in one environment, and texts",
    "may refer to variables: [environments.md](environments.md). This page is rendered from",
    "`tidegate/project/settings/language.py` and `tidegate/project/environment.py`; `make pages` writes it",
    "again.",
)
_KEYS_HEAD = ("| key | value | default | example | meaning |", "|---|---|---|---|---|")
_VARIABLES_HEAD = ("| variable | meaning |", "|---|---|")


def settings_markdown() -> str:
    """Return the whole document: a table for each section, and the environment variables."""
    lines = [*_OF_SETTINGS]
    for name, section in SECTIONS.items():
        lines += ["", f"## [{name}]", "", section.__doc__ or "", "", *_KEYS_HEAD]
        for field in msgspec.structs.fields(section):
            meta = keys_of(section)[field.name]
            default = _toml(field.default if field.default is not msgspec.NODEFAULT else {})
            example = (meta.examples or [""])[0]
            lines.append(
                f"| `{field.name}` | {meta.title} | `{default}` | `{example}` | {meta.description} |"
            )
    lines += ["", "## Environment variables", "", *_VARIABLES_HEAD]
    lines += [f"| `{name}` | {text} |" for name, text in {**READ, **SET}.items()]
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, bool):
        return str(value).lower()
    return "[]" if value == () else str(value)


def main() -> None:
    """Write the pages into the folder that the command line names."""
    folder = Path(sys.argv[1])
    for name, text in PAGES.items():
        (folder / name).write_text(text(), encoding="utf-8")


PAGES = {
    "diagnostics.md": catalogue_markdown,
    "reasons.md": reasons_markdown,
    "settings.md": settings_markdown,
}

if __name__ == "__main__":
    main()
