"""Pages that are made from the product itself: commands with their options, keys of the YAML, the HTTP API."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from typer.core import _click as click

from docs.site.pages import ROOT
from tidegate.cli.commands import COMMANDS
from tidegate.cli.main import load_command
from tidegate.compiler.schema import schema_text
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.server.application import create_application
from tidegate.server.service import Service

REFERENCE = re.compile(r"#/(?:\$defs|components/schemas)/")


def commands_page() -> str:
    """Return the page of all commands."""
    lines = [
        "# Commands",
        "",
        "Rendered from the commands themselves; `--help` prints the same.",
    ]
    for name in COMMANDS:
        lines += _command(f"tidegate {name}", load_command(name))
    return "\n".join(lines) + "\n"


def _command(name: str, command: Any) -> Iterator[str]:
    yield from ("", f"## {name}" if name.count(" ") == 1 else f"### {name}", "", _prose(command.help or ""))
    context = click.Context(command, info_name=name)
    parameters = [
        each for each in command.params if each.name != "help" and not getattr(each, "hidden", False)
    ]
    if parameters:
        yield from ("", "| argument or option | meaning |", "|---|---|")
    for each in parameters:
        record = each.get_help_record(context) or (
            each.make_metavar(context),
            getattr(each, "help", "") or "",
        )
        yield f"| `{_cell(record[0])}` | {_cell(_prose(record[1]))} |"
    if hasattr(command, "list_commands"):
        for inner in command.list_commands(context):
            yield from _command(f"{name} {inner}", command.get_command(context, inner))


def keys_page() -> str:
    """Return the page of all keys of the YAML."""
    schema: Mapping[str, Any] = json.loads(schema_text())
    lines = [
        "# Keys of the YAML",
        "",
        "Rendered from the JSON Schema, which `tidegate schema` prints for editors.",
        "[The language](../language.md) explains them.",
    ]
    parts = {"the file": schema, **schema["$defs"]}
    for name, part in parts.items():
        rows = list(_keys(part, ""))
        if rows:
            lines += ["", f"## {part.get('title', name)}", "", part.get("description", ""), ""]
            lines += ["| key | value | meaning | example |", "|---|---|---|---|", *rows]
    return "\n".join(lines) + "\n"


def _keys(part: Mapping[str, Any], before: str) -> Iterator[str]:
    for key, value in part.get("properties", {}).items():
        if not isinstance(value, Mapping):
            continue
        kind = value.get("title") or _named(value.get("$ref", "")) or value.get("type", "")
        allowed = ", ".join(f"`{each}`" for each in value.get("enum", ()))
        example = next((json.dumps(each) for each in value.get("examples", ())), "")
        yield (
            f"| `{before}{key}` | {_cell(str(kind))}{f': {_cell(allowed)}' if allowed else ''} "
            f"| {_cell(value.get('description', ''))} | {f'`{_cell(example)}`' if example else ''} |"
        )
        for inner in (value, value.get("else", {})):
            yield from _keys(inner, f"{before}{key}.") if isinstance(inner, Mapping) else ()


def rest_page() -> str:
    """Return the page of the HTTP API."""
    described = create_application(Service(settings=load_settings(ROOT), store=MemoryStore())).openapi()
    lines = [
        "# The HTTP API",
        "",
        "Rendered from the OpenAPI document, which a running server has at `/openapi.json`.",
        "[REST](../rest.md) explains it.",
    ]
    tags: dict[str, list[str]] = {}
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            rows = tags.setdefault((operation.get("tags") or ["other"])[0], [])
            rows += ["", f"### `{method.upper()} {path}`", "", *_operation(operation)]
    for tag, rows in tags.items():
        lines += ["", f"## {tag}", *rows]
    return "\n".join(lines) + "\n"


def _operation(operation: Mapping[str, Any]) -> Iterator[str]:
    yield _prose(operation.get("description") or operation.get("summary") or "")
    parameters = operation.get("parameters", [])
    if parameters:
        yield from ("", "| parameter | in | meaning |", "|---|---|---|")
    for each in parameters:
        kind = each.get("schema", {}).get("type") or _named(each.get("schema", {}).get("$ref", ""))
        text = str(each.get("description") or kind or "")
        place = f"{each['in']}, required" if each.get("required") else each["in"]
        yield f"| `{each['name']}` | {place} | {_cell(text)} |"
    for kind, body in operation.get("requestBody", {}).get("content", {}).items():
        example = body.get("example") or next(
            (each.get("value") for each in body.get("examples", {}).values()), None
        )
        yield from ("", f"Body: `{kind}`.")
        if example is not None:
            text = example if isinstance(example, str) else json.dumps(example, indent=2)
            yield from ("", "```json", text, "```")
    answers = ", ".join(
        f"{code} {_cell(each.get('description', ''))}" for code, each in operation["responses"].items()
    )
    yield from ("", f"Answers: {answers}.")


def _named(reference: str) -> str:
    return REFERENCE.sub("", reference).replace("_", " ")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _prose(text: str) -> str:
    """Return a help text with what HTML would take for a tag escaped."""
    return re.sub(r"\s*\n\s*", " ", text.strip()).replace("<", "&lt;")
