"""The cases: every example of some files, each as an app of its own, so that all can be played at once."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tidegate.compiler.compile import CompiledApp, compile_files
from tidegate.compiler.scenarios.model.scenario import Scenario

ROOT = Path(__file__).parents[2]
STORIES = ROOT / "schedules" / "stories"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One example of a file.

    Attributes:
        name: of its app here.
        title: of the example.
        texts: its files, with the names that the apps have here.
    """

    name: str
    title: str
    file: Path
    texts: Mapping[str, bytes]

    @cached_property
    def compiled(self) -> CompiledApp:
        """Compiled when it is played: every worker collects all cases."""
        return compile_files(dict(self.texts)).apps[self.name]

    @property
    def scenario(self) -> Scenario:
        (found,) = (each for each in self.compiled.scenarios if each.name == self.title)
        return found

    def read_file(self, name: str) -> bytes:
        """Return a file that a `deploy` of the example names."""
        app, _, number = self.name.rpartition("_")
        return _renamed((self.file.parent / name).read_text(), {app: f"{app}_{number}"})


def cases_of(file: Path, *beside: Path) -> Iterator[Case]:
    """Yield a case for each example of a file.

    Args:
        beside: files of other apps that it names.
    """
    texts = {str(each): each.read_text() for each in (file, *beside)}
    compilation = compile_files({name: text.encode() for name, text in texts.items()})
    (plain,) = (app for app in compilation.apps.values() if app.file == str(file))
    for number, scenario in enumerate(plain.scenarios, start=1):
        name = f"{plain.app.name}_{number}"
        others = {app: f"{app}_of_{name}" for app in compilation.apps}
        names = {**others, plain.app.name: name}
        renamed = {each: _renamed(text, names) for each, text in texts.items()}
        yield Case(name=name, title=scenario.name, file=file, texts=renamed)


def _renamed(text: str, names: Mapping[str, str]) -> bytes:
    for old, new in names.items():
        text = re.sub(rf"\bapp: {old}\b", f"app: {new}", text)
        text = re.sub(rf"\b{old}/", f"{new}/", text)
    return text.encode()
