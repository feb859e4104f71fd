"""Play the examples of an app that a complaint is about."""

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


def warnings(text: str) -> list[Diagnostic]:
    """Return the warnings about an app without errors."""
    found = compile_files({"a.yaml": text.encode()})
    assert found.ok, found.diagnostics
    return [each for each in found.diagnostics if each.severity == "warning"]
