"""The settings as Markdown: the text of docs/settings.md, which `make pages` renders."""

import msgspec

from tidegate.project.environment import READ, SET
from tidegate.project.settings.language import SECTIONS, keys_of

_INTRODUCTION = (
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
    lines = [*_INTRODUCTION]
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


if __name__ == "__main__":
    print(settings_markdown(), end="")
