"""Play the examples of an app that a complaint is about."""

from datetime import datetime

from tidegate.compiler.compile import compile_files
from tidegate.compiler.diagnostics.diagnostic import Diagnostic
from tidegate.scheduler.simulation.play import play


def failures(text: str) -> list[str]:
    """Return what does not hold of the examples of an app, each as a line."""
    found = compile_files({"a.yaml": text.encode()})
    assert found.ok, [f"{each.at.line}: {each.code} {each.summary}" for each in found.diagnostics]
    (app,) = found.apps.values()
    assert app.scenarios, "the app has examples"
    played = ((scenario, play(scenario, app)) for scenario in app.scenarios)
    return [
        f"{scenario.name}: {failure.expected}, but {failure.observed}"
        for scenario, performance in played
        for failure in performance.failures
    ]


def launched(text: str, schedule: str) -> list[tuple[datetime, str]]:
    """Return when each partition was written by a schedule in the example of an app, in order."""
    found = compile_files({"a.yaml": text.encode()})
    assert found.ok, found.diagnostics
    (app,) = found.apps.values()
    (scenario,) = app.scenarios
    moments = play(scenario, app).moments
    runs = [each for each in moments if each.kind == "launched" and each.schedule == schedule]
    return [(each.when, key) for each in runs for key in each.partitions]


def warnings(text: str) -> list[Diagnostic]:
    """Return the warnings about an app without errors."""
    found = compile_files({"a.yaml": text.encode()})
    assert found.ok, found.diagnostics
    return [each for each in found.diagnostics if each.severity == "warning"]
