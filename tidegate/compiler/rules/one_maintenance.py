"""The rule that one app has `maintenance`: its settings are those of the whole store."""

from collections.abc import Iterable

from tidegate.compiler.diagnostics.diagnostic import Findings, Related
from tidegate.domain.model import App, Maintenance


def check_one_maintenance(apps: Iterable[tuple[App, Findings]]) -> Maintenance | None:
    """Report each app with `maintenance` after the first one; return that of the first, if there is one."""
    found = [
        (app.name, settings, settings.at, findings)
        for app, findings in apps
        if (settings := app.maintenance) is not None and settings.at is not None
    ]
    if not found:
        return None
    (first, settings, place, _), *others = found
    for name, _, at, findings in others:
        findings.add(
            "N318",
            at,
            f"one app has `maintenance`, which is about the whole store, got it in {first} and {name}",
            f"move its keys to {first}, and delete it here",
            (Related(at=place, note=f"that of {first} is here"),),
        )
    return settings
