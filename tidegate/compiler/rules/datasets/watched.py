"""The rule that a watched dataset has a folder into which others than the app's programs put files.

What a program publishes is an event already: a watcher would report it a second time.
"""

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.domain.model import App
from tidegate.domain.wording import shown


def check_watched(app: App, findings: Findings) -> None:
    """Report watched datasets without a path, and those that a program of the app writes."""
    for dataset in app.datasets.values():
        if dataset.watch is None or dataset.at is None:
            continue
        writers = sorted(each.name for each in app.programs.values() if dataset.name in each.writes)
        if dataset.path is None:
            wrong, hint = "without a `path`", "add for example path: landing/flights, or delete `watch`"
        elif writers:
            wrong = f"which {writers[0]} writes"
            hint = "delete `watch`: what a program publishes is an event by itself"
        else:
            continue
        findings.add(
            "L419", dataset.at, f"a watched dataset has landed files, got {shown(dataset.name)} {wrong}", hint
        )
