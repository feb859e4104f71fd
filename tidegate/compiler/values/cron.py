"""Cron patterns in the YAML; `domain.time.cron` parses the text."""

from tidegate.compiler.reader.node import MappingNode
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.time.cron import CronError, parse


def cron_of(mapping: MappingNode, scope: Scope) -> str | None:
    """Return the pattern at `cron`; None without the key, or after reporting a wrong one."""
    if "cron" not in mapping.values:
        return None
    text = " ".join(mapping.text("cron").split())
    try:
        parse(text)
    except CronError as error:
        scope.findings.add("V203", mapping.values["cron"], error.message, error.hint)
        return None
    return text
