"""The cases: every example of some files, each as an app of its own, so that all can be played at once."""

import re
from collections.abc import Iterator
from pathlib import Path

from tidegate.compiler.compile import CompiledApp, compile_files
from tidegate.compiler.scenarios.scenario import Scenario
from tidegate.domain.value import Value

ROOT = Path(__file__).parents[2]
STORIES = ROOT / "schedules" / "stories"


class Case(Value, kw_only=True):
    """One example of a file. `name` is the name of its app here."""

    name: str
    file: Path
    compiled: CompiledApp
    scenario: Scenario

    def read_file(self, name: str) -> bytes:
        """Return a file that a `deploy` of the example names."""
        return _renamed((self.file.parent / name).read_text(), self.file, self.name)


def cases_of(file: Path) -> Iterator[Case]:
    """Yield a case for each example of a file."""
    text = file.read_text()
    (plain,) = compile_files({str(file): text.encode()}).apps.values()
    for number, _ in enumerate(plain.scenarios):
        name = f"{plain.app.name}_{number + 1}"
        compilation = compile_files({str(file): _renamed(text, file, name)})
        compiled = compilation.apps[name]
        yield Case(name=name, file=file, compiled=compiled, scenario=compiled.scenarios[number])


def _renamed(text: str, file: Path, name: str) -> bytes:
    old = name.rpartition("_")[0]
    return re.sub(rf"\bapp: {old}\b", f"app: {name}", text).encode()
