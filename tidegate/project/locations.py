"""`--locations`: the programs that exist in Dagster, compared with the code locations of a workspace.

    compiled YAML ─► questions ─► child process (`dagster_defs.compare`) ─► answers ─► diagnostics
    a project without YAML ─► their jobs (`init --beside`)

Nothing of Dagster is imported here, and none of the locations' code runs in this process. What does not load
is a note, and an error only with `--require-locations`.
"""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from tidegate.compiler.compile import Compilation, CompiledApp
from tidegate.compiler.diagnostics.catalogue import CATALOGUE, Severity
from tidegate.compiler.diagnostics.diagnostic import Diagnostic, Findings
from tidegate.compiler.reader.node import MappingNode, Node, find
from tidegate.compiler.rules.triggers.batch import may_launch_several
from tidegate.dagster_defs.compare.question import NO_LOCATION, Answer, Answers, Fault, Question, Request
from tidegate.domain.wording import plural
from tidegate.project.environment import LOCATION_NAME, MODULE
from tidegate.project.imports import import_environment, lines_of
from tidegate.project.loading import RUN_MODULE

LOCATION_SECONDS = 120.0
"""How long all locations together may take to load: a large project imports what its assets need."""

ANSWER_SECONDS = 60.0
"""How long the process may take beside that."""


class Compared(NamedTuple):
    """A compilation with what disagrees with the loaded locations.

    Attributes:
        selections: the assets that each selection has now, by "app/program".
    """

    compilation: Compilation
    selections: Mapping[str, tuple[str, ...]]


def compare_locations(
    compilation: Compilation, project: Path, files: Iterable[Path], *, required: bool = False
) -> Compared:
    """Compare the programs of a compilation with the loaded locations.

    Args:
        project: the folder that comes first on the Python path.
        files: that may list the locations.
        required: a location that does not load is an error.
    """
    asked = [question for compiled in compilation.apps.values() for question in _questions(compiled)]
    if not asked:
        return Compared(compilation, {})
    answers = _answers(_request(files, questions=tuple(asked)), project)
    selections = {program: each.assets for program, each in answers.answers.items() if each.assets}
    return Compared(with_answers(compilation, answers, project, required=required), selections)


def jobs_of_others(project: Path, file: Path) -> Answers:
    """Return the jobs of the locations of others that a file of a project lists."""
    return _answers(_request([file], jobs=True), project)


def _request(files: Iterable[Path], *, questions: tuple[Question, ...] = (), jobs: bool = False) -> Request:
    return Request(
        files=tuple(map(str, files)),
        own_module=MODULE,
        own_name=LOCATION_NAME,
        seconds=LOCATION_SECONDS,
        questions=questions,
        jobs=jobs,
    )


def _questions(compiled: CompiledApp) -> Iterator[Question]:
    app = compiled.app
    for name, program in app.programs.items():
        if program.existing is not None:
            schemes = program.schemes(app.datasets)
            yield Question(
                program=f"{app.name}/{name}",
                existing=program.existing,
                schemes=schemes,
                several=tuple(
                    each.name
                    for each in app.schedules.values()
                    if schemes and each.program == name and may_launch_several(each)
                ),
            )


def _answers(request: Request, project: Path) -> Answers:
    """Return the answers of a child process; if it ends without any, why no location is loaded."""
    with tempfile.TemporaryDirectory(prefix="tidegate-locations-") as folder:
        file, log = Path(folder) / "answers.json", Path(folder) / "log"
        ended = _run_child(request, project, file, log)
        if file.exists():
            return msgspec.json.decode(file.read_bytes(), type=Answers)
    away = {each.program: Answer(away=(NO_LOCATION,)) for each in request.questions}
    return Answers(problems={NO_LOCATION: ended}, answers=away)


def _run_child(request: Request, project: Path, answers: Path, log: Path) -> str:
    """Run the child process to its end, and return how it has ended."""
    seconds = request.seconds + ANSWER_SECONDS
    with log.open("wb") as output:
        child = subprocess.Popen(
            [*RUN_MODULE, "tidegate.dagster_defs.compare.answers", str(answers)],
            cwd=project,
            env={**import_environment(project), "TMPDIR": str(answers.parent)},
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            # Its own group: the code servers are ended with it.
            start_new_session=True,
        )
    try:
        child.communicate(msgspec.json.encode(request), seconds)
    except subprocess.TimeoutExpired:
        return f"the process that loads it took more than {seconds:.0f} s"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    last = log.read_text(errors="replace").strip().splitlines()[-1:]
    return f"the process that loads it ended with {child.returncode}: {''.join(last)}"


def with_answers(compilation: Compilation, answers: Answers, project: Path, *, required: bool) -> Compilation:
    """Return a compilation with the diagnostics of some answers."""
    found = list(compilation.diagnostics)
    for compiled in compilation.apps.values():
        findings = Findings(compiled.file, "\n".join(lines_of(compiled.file, project)))
        _add(compiled, answers, findings)
        found += [_with_severity(each, required=required) for each in findings.diagnostics()]
    return Compilation(apps=compilation.apps, diagnostics=tuple(sorted(found, key=Diagnostic.sort_key)))


def _add(compiled: CompiledApp, answers: Answers, findings: Findings) -> None:
    asked = any(f"{compiled.app.name}/{name}" in answers.answers for name in compiled.app.programs)
    programs = compiled.root.mapping("programs") if asked else None
    away: dict[str, list[MappingNode]] = {}
    for name, program in programs.values.items() if programs is not None else ():
        answer = answers.answers.get(f"{compiled.app.name}/{name}")
        if answer is None or not isinstance(program, MappingNode):
            continue
        for fault in answer.faults:
            findings.add(fault.code, _place(program, fault), fault.summary, fault.hint)
        for location in answer.away:
            away.setdefault(location, []).append(program)
    for location, waiting in away.items():
        named = next((each for each in waiting if location and each.text("location") == location), None)
        first = waiting[0].get("job") or waiting[0].get("assets")
        place = first if named is None else named.get("location")
        what = f"location {location} was not loaded" if location else "no location was loaded"
        summary = f"{what}: {answers.problems[location]}; not compared"
        hint = f"make it load here: {plural(len(waiting), 'program')} cannot be compared without it"
        findings.add("L480", place or waiting[0], summary, hint)


def _place(program: MappingNode, fault: Fault) -> Node:
    """Return the node of a fault, or of the deepest part of the program on the way to it."""
    job = program.get("job") or program.get("assets") or program
    if fault.key == "partitions":
        key = next((key for key in ("partitions", "writes") if key in program.keys), None)
        return job if key is None else program.keys[key]
    start = program.get(fault.key)
    if start is None:
        return job
    if fault.of_key:
        if not fault.path:
            return program.keys[fault.key]
        above = find(start, fault.path[:-1])
        last = str(fault.path[-1])
        if isinstance(above, MappingNode) and last in above.keys:
            return above.keys[last]
    return find(start, fault.path)


def _with_severity(diagnostic: Diagnostic, *, required: bool) -> Diagnostic:
    severity: Severity = (
        "error" if required and diagnostic.code == "L480" else CATALOGUE[diagnostic.code].severity
    )
    return msgspec.structs.replace(diagnostic, severity=severity)
