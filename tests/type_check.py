"""`python -m tests.type_check`: the type checker on what has changed since it last found nothing.

A change is a module with another content, and whatever imports such a module. With `--all`, as `make test`
does it, or where the settings or the environment are others, all is checked. The contents for which nothing
was found are kept in the environment's folder.
"""

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = "tidegate"
STATE = Path(sys.prefix) / "type_check.json"
SETTINGS = ("pyproject.toml", "requirements.lock")
MANY = 300
"""So many files are checked no faster than all."""

IMPORT = re.compile(r"^\s*(?:from ([\w.]+) import (\([^)]*\)|[^\n]*)|import ([\w.]+))", re.MULTILINE)


def main(everything: bool) -> int:
    """Check, and keep what was seen if there is nothing to find. Return the exit code of the checker."""
    found = {str(path.relative_to(ROOT)): path.read_bytes() for path in (ROOT / PACKAGE).rglob("*.py")}
    seen = {name: hashlib.sha256(content).hexdigest() for name, content in found.items()}
    settings = {name: hashlib.sha256((ROOT / name).read_bytes()).hexdigest() for name in SETTINGS}
    kept = json.loads(STATE.read_text()) if STATE.is_file() and not everything else {}
    files = list[str]()
    if kept and all(kept.get(name) == digest for name, digest in settings.items()):
        files = sorted(to_check(found, changed(kept, seen)))
        if not files:
            return 0
    files = files if len(files) < MANY else []
    code = subprocess.run([Path(sys.executable).with_name("basedpyright"), *files], cwd=ROOT).returncode
    if code == 0:
        STATE.write_text(json.dumps(seen | settings))
    return code


def changed(kept: Mapping[str, str], seen: Mapping[str, str]) -> set[str]:
    """Return the modules that are new, have another content, or have been removed."""
    gone = {name for name in kept if name.startswith(f"{PACKAGE}/") and name not in seen}
    return gone | {name for name, digest in seen.items() if kept.get(name) != digest}


def to_check(found: Mapping[str, bytes], names: Iterable[str]) -> set[str]:
    """Return the changed modules that exist, and those that import one of the changed ones."""
    wanted = {module_of(name) for name in names}
    if not wanted:
        return set()
    importers = {name for name, content in found.items() if imports(content.decode()) & wanted}
    return importers | {name for name in names if name in found}


def module_of(name: str) -> str:
    """Return the dotted name of a file."""
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imports(text: str) -> set[str]:
    """Return the modules that a text may import: `from a import b` names `a`, and perhaps a module `a.b`."""
    modules = set[str]()
    for package, names, module in IMPORT.findall(text):
        modules |= {package or module}
        modules |= {f"{package}.{name}" for name in re.findall(r"\w+", names)}
    return modules


if __name__ == "__main__":
    sys.exit(main("--all" in sys.argv[1:]))
