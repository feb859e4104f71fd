"""The other code locations of a project, which `tidegate dev` loads beside its own."""

from pathlib import Path

import pytest

from tidegate.processes.others import other_locations

OURS = "{python_module: {module_name: tidegate.definitions, location_name: tidegate}}"


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        (
            "workspace.yaml",
            f"load_from:\n  - {OURS}\n  - python_module: {{module_name: acme.all, location_name: acme}}",
            [{"python_module": {"module_name": "acme.all", "location_name": "acme"}}],
        ),
        (
            "workspace.yaml",
            f"load_from:\n  - {OURS}\n  - python_file: {{relative_path: acme.py, working_directory: src}}",
            [{"python_file": {"relative_path": "PROJECT/acme.py", "working_directory": "PROJECT/src"}}],
        ),
        (
            "workspace.yaml",
            "load_from: [{python_file: acme.py}, {grpc_server: {host: acme, port: 4000}}]",
            [
                {"python_file": {"relative_path": "PROJECT/acme.py"}},
                {"grpc_server": {"host": "acme", "port": 4000}},
            ],
        ),
        (
            "pyproject.toml",
            '[tool.dagster]\nmodules = [{type = "module", name = "acme"},'
            ' {type = "module", name = "tidegate.definitions"}]',
            [{"python_module": {"module_name": "acme"}}],
        ),
        (
            "pyproject.toml",
            '[tool.dagster]\nmodule_name = "acme.definitions"\ncode_location_name = "acme"',
            [{"python_module": {"module_name": "acme.definitions", "location_name": "acme"}}],
        ),
        ("workspace.yaml", "load_from: [", []),
        ("workspace.yaml", f"load_from: [{OURS}]", []),
        ("README.md", "", []),
    ],
)
def test_the_entries_of_the_project_without_ours(
    file: str, text: str, found: list[object], tmp_path: Path
) -> None:
    (tmp_path / file).write_text(text)
    shown = [str(each).replace(str(tmp_path), "PROJECT") for each in other_locations(tmp_path)]
    assert shown == [str(each) for each in found]
