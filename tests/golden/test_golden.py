"""Golden files: each folder here is one case, and what the compiler must say of it.

    in.yaml, in_*.yaml   what is compiled      (in.py makes CONTENT where a file would be too large for git,
                                                paths.txt names files instead)
    tidegate.toml        the settings are checked instead
    formats.json         the default format, and the formats of deployed datasets
    rules.toml           the rules that the project adds
    jobs_kept.txt        how long finished jobs are kept
    channels.txt         the channels of its settings
    clusters.txt         the clusters of its settings
    lost.txt             schedules that the builder leaves out without a word: the fault that S199 is for
    imports.txt          the programs are imported, too
    locations.json       what loaded locations have answered of its programs
    today.txt            the day of the compilation, for the notes that name coming dates
    diagnostics.txt      every message         (absent: there must be none)
    plan.json            the canonical plan    (where there is no error)
    deployed.yaml        what is deployed, with deploy.json for the rest of a deployment
    diff.txt, diff.json  the difference

`pytest tests/golden --update-golden` writes them again; read the difference before committing it.
"""

import runpy
import tomllib
from datetime import date
from pathlib import Path

import msgspec
import pytest

from tests.golden.canonical_plan import plan
from tidegate.compiler.builders import app
from tidegate.compiler.compile import Compilation, compile_files
from tidegate.compiler.diagnostics.catalogue import CATALOGUE
from tidegate.compiler.plan.consequence import Effect
from tidegate.compiler.plan.diff import diff
from tidegate.compiler.render.diagnostics.text import diagnostics_text, summary_text
from tidegate.compiler.render.diff_json import diff_json
from tidegate.compiler.render.diff_text import diff_text
from tidegate.compiler.rules.house import NO_RULES
from tidegate.compiler.rules.named_settings import NamedSettings
from tidegate.compiler.scope.formats import NO_FORMATS, Formats
from tidegate.dagster_defs.compare.question import Answers
from tidegate.domain.duration import parse_duration
from tidegate.project.imports import check_imports
from tidegate.project.locations import with_answers
from tidegate.project.settings.engine_values import house_rules
from tidegate.project.settings.language import LintSection
from tidegate.project.settings.literal_secrets import literal_secrets
from tidegate.project.yaml_files import compile_paths

HERE = Path(__file__).parent
CASES = sorted(path.name for path in HERE.iterdir() if path.is_dir() and path.name != "__pycache__")


@pytest.mark.parametrize("case", CASES)
def test_golden(case: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    folder = HERE / case
    monkeypatch.chdir(folder)
    if (folder / "lost.txt").exists():
        lose((folder / "lost.txt").read_text().split(), monkeypatch)
    compilation = compiled(folder)
    outputs = {"diagnostics.txt": diagnostics(compilation), "plan.json": planned(compilation)}
    if (folder / "deployed.yaml").exists():
        outputs |= differences(folder, compilation)
    update = request.config.getoption("--update-golden", default=False)
    for name, found in outputs.items():
        if update:
            write(folder / name, found)
        assert (folder / name).exists() == bool(found), f"{name} of {case}; --update-golden writes it"
        if found:
            assert found == (folder / name).read_text(encoding="utf-8")


def test_every_code_of_the_catalogue_has_a_golden_file() -> None:
    texts = "\n".join(file.read_text(encoding="utf-8") for file in HERE.glob("*/diagnostics.txt"))
    missing = [code for code in CATALOGUE if f"[{code}]" not in texts]
    assert not missing


def test_every_golden_diagnostic_has_a_place_the_value_and_a_hint() -> None:
    for file in HERE.glob("*/diagnostics.txt"):
        for block in file.read_text(encoding="utf-8").rstrip().split("\n\n")[:-1]:
            lines = block.split("\n")
            # What was not loaded has no value.
            assert "got" in lines[0] or '"' in lines[0] or "[L480]" in lines[0], block
            assert lines[-1].startswith("hint: "), block


def compiled(folder: Path) -> Compilation:
    if (folder / "in.py").exists():
        return compile_files({"in.yaml": runpy.run_path(str(folder / "in.py"))["CONTENT"]})
    if (folder / "tidegate.toml").exists():
        return Compilation(apps={}, diagnostics=literal_secrets(Path("tidegate.toml"), "tidegate.toml"))
    if (folder / "paths.txt").exists():
        return compile_paths([Path(line) for line in (folder / "paths.txt").read_text().split()])
    today = (
        date.fromisoformat((folder / "today.txt").read_text().strip())
        if (folder / "today.txt").exists()
        else None
    )
    formats = NO_FORMATS
    if (folder / "formats.json").exists():
        formats = msgspec.json.decode((folder / "formats.json").read_bytes(), type=Formats)
    files = sorted(Path(file.name) for file in folder.glob("in*.yaml"))
    rules = NO_RULES
    if (folder / "rules.toml").exists():
        lint = tomllib.loads((folder / "rules.toml").read_text())["lint"]
        rules = house_rules(Path("rules.toml"), LintSection(rules=lint["rules"]))
    named = NamedSettings(channels=_names(folder / "channels.txt"), clusters=_names(folder / "clusters.txt"))
    kept = folder / "jobs_kept.txt"
    found = compile_paths(
        files,
        today=today,
        formats=formats,
        rules=rules,
        named=named if named != NamedSettings() else None,
        jobs_kept=parse_duration(kept.read_text().strip()) if kept.exists() else None,
    )
    if (folder / "locations.json").exists():
        # What the locations of acme have answered; tests/tidegate/cli/develop/test_locations.py asks them.
        answers = msgspec.json.decode((folder / "locations.json").read_bytes(), type=Answers)
        return with_answers(found, answers, folder, required=False)
    return check_imports(found, folder) if (folder / "imports.txt").exists() else found


def _names(file: Path) -> frozenset[str]:
    return frozenset(file.read_text().split() if file.exists() else ())


def lose(names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    build = app.build_schedule
    monkeypatch.setattr(
        app, "build_schedule", lambda key, *rest: None if key.value in names else build(key, *rest)
    )


def diagnostics(compilation: Compilation) -> str:
    found = compilation.diagnostics
    return f"{diagnostics_text(found)}\n\n{summary_text(found)}\n" if found else ""


def planned(compilation: Compilation) -> str:
    if not compilation.ok:
        return ""
    return pretty(plan(compilation.models()))


def differences(folder: Path, compilation: Compilation) -> dict[str, str]:
    assert compilation.ok
    deployed = compile_files({"deployed.yaml": (folder / "deployed.yaml").read_bytes()}).models()
    options = msgspec.json.decode((folder / "deploy.json").read_bytes())
    effects = {
        tuple(ref.split("/")): msgspec.convert(effect, Effect)
        for ref, effect in options.get("effects", {}).items()
    }
    found = diff(
        deployed,
        compilation.models(),
        update_schedules=options.get("update_schedules", True),
        effects=lambda _: effects,
    )
    return {"diff.txt": diff_text(found) + "\n", "diff.json": pretty(diff_json(found))}


def pretty(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"


def write(file: Path, text: str) -> None:
    if text:
        file.write_text(text, encoding="utf-8")
    else:
        file.unlink(missing_ok=True)
