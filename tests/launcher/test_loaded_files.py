"""Before which runs a server looks at which of the files that it has loaded."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from tidegate.launcher import preload
from tidegate.launcher.preload import INSTALLED_SECONDS, LoadedFiles


def edit(file: Path) -> None:
    file.write_text("# edited where it is\n")


def upgrade(file: Path) -> None:
    new = file.with_suffix(".new")
    new.write_text("# replaced\n")
    new.replace(file)


def add(file: Path) -> None:
    (file.parent / "other.py").touch()


@pytest.mark.parametrize(
    ("name", "change", "seconds", "expected"),
    [
        ("own", edit, 0, True),
        ("own", Path.unlink, 0, True),
        ("installed", upgrade, 0, True),
        ("installed", Path.unlink, 0, True),
        ("installed", edit, 0, False),
        ("installed", edit, INSTALLED_SECONDS, True),
        ("installed", add, 0, False),
        ("installed", add, INSTALLED_SECONDS, False),
    ],
)
def test_a_changed_file_is_found_at_once_unless_an_installed_one_was_edited_where_it_is(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    change: Callable[[Path], object],
    seconds: float,
    expected: bool,
) -> None:
    files = {each: tmp_path / each / "module.py" for each in ("own", "installed")}
    modules = dict[str, ModuleType]()
    for each, file in files.items():
        file.parent.mkdir()
        file.touch()
        modules[each] = ModuleType(each)
        modules[each].__file__ = str(file)
    monkeypatch.setattr(sys, "modules", sys.modules | modules)
    monkeypatch.setattr(preload, "KNOWN", (tmp_path / "installed",))
    now = 100.0
    loaded = LoadedFiles(lambda: now)
    assert loaded.changed() is None

    change(files[name])
    now += seconds

    assert loaded.changed() == (str(files[name]) if expected else None)
