"""One example in an app's YAML, compiled: what its actions and expectations become."""

import json
from datetime import UTC, datetime
from typing import Any

from tidegate.compiler.compile import Compilation, compile_files
from tidegate.compiler.scenarios.model.scenario import Action, Expected, Scenario

START = datetime(2026, 3, 10, tzinfo=UTC)


class ExampleOf:
    """Examples of an app called "a": each begins at START and consists of the YAML lines of a test."""

    def __init__(self, app: dict[str, Any]) -> None:
        self._app = "".join(f"{key}: {json.dumps(value)}\n" for key, value in app.items())

    def compiled(self, text: str) -> Compilation:
        """The app with an example of these lines."""
        example = f"examples:\n  - name: it\n    start: {START:%Y-%m-%dT%H:%M:%SZ}\n{text}"
        return compile_files({"a.yaml": (self._app + example).encode()})

    def codes(self, text: str) -> list[str]:
        """What lint refuses of an example of these lines."""
        return [each.code for each in self.compiled(text).diagnostics if each.severity == "error"]

    def scenario(self, text: str) -> Scenario:
        """The example of these lines, which lint takes."""
        found = self.compiled(text)
        assert found.ok, [(each.code, each.summary) for each in found.diagnostics]
        return found.apps["a"].scenarios[0]

    def action(self, text: str) -> Action:
        """What these words of `given`, at the start, become."""
        (given,) = self.scenario(f"    given:\n      - {{at: +0s, {text}}}\n").given
        return given.action

    def expected(self, text: str) -> Expected:
        """What these words of `expect`, at the start, become."""
        (found,) = self.scenario(f"    expect:\n      - {{at: +0s, {text}}}\n").expect
        return found.expected
