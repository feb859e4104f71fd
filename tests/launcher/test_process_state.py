"""What a worker looks at after each run does not grow with what its runs have loaded."""

import gc
import sys
from types import ModuleType

import pytest

from tidegate.launcher.warm import process_state
from tidegate.launcher.warm.process_state import ProcessState


def test_a_module_is_looked_at_once_and_one_of_the_project_leaves_after_each_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: str
) -> None:
    state, looked_at = ProcessState(), list[str]()
    is_of_project = process_state.is_of_project

    def look(module: ModuleType) -> bool:
        looked_at.append(module.__name__)
        return is_of_project(module)

    monkeypatch.setattr(process_state, "is_of_project", look)
    monkeypatch.setattr(gc, "freeze", lambda: None)
    for _ in range(2):
        library, program = ModuleType("a_library"), ModuleType("a_program")
        program.__file__ = f"{tmp_path}/a_program.py"
        monkeypatch.setitem(sys.modules, "a_library", library)
        monkeypatch.setitem(sys.modules, "a_program", program)
        state.restore()
        assert "a_program" not in sys.modules
    assert looked_at.count("a_library") == 1
    assert looked_at.count("a_program") == 2


def test_what_the_first_run_has_loaded_is_not_collected_again(monkeypatch: pytest.MonkeyPatch) -> None:
    done = list[str]()
    monkeypatch.setattr(gc, "collect", lambda: done.append("collected"))
    monkeypatch.setattr(gc, "freeze", lambda: done.append("kept"))
    state = ProcessState()
    state.restore()
    state.restore()
    assert done == ["collected", "kept", "collected"]
