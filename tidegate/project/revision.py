"""The YAML files of a project as a git revision has them, read without a checkout.

Asks the `git` on the PATH. Nothing in the working folder or in the repository changes.
"""

import os
import subprocess
import tomllib
from pathlib import Path

from tidegate.compiler.reader.text import MAX_FILE_BYTES
from tidegate.compiler.scope.project_files import ProjectFile, ReadFile
from tidegate.domain.error import UserError
from tidegate.project.settings.decode import decode
from tidegate.project.settings.environments import merged, profiles_of, resolve
from tidegate.project.settings.language import SettingsError
from tidegate.project.settings.settings import SETTINGS_FILE, Settings
from tidegate.project.yaml_files import MAX_FILES, SUFFIXES

GIT_SECONDS = 60
"""A git that takes longer waits for an answer, or for a file system that hangs."""

HOOK_VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
REGULAR_FILES = (b"100644", b"100755")


def files_of_revision(settings: Settings, revision: str) -> dict[str, bytes]:
    """The YAML files that a deployment of a revision would read, by the name that messages show.

    Where the folder of the YAML is, and what of it is not deployed, says the settings file of the revision.

    Raises:
        UserError: git is missing, the project is in no repository, or the revision does not exist or has no
            such project.
    """
    project = settings.project
    commit = _commit(project, revision)
    schedules, undeployed = _folders(settings, commit, revision)
    within = [] if schedules == "." else [schedules]
    listed = _git(project, "ls-tree", "-r", "-z", commit, "--", *within)
    blobs: dict[str, bytes] = {}
    for entry in listed.split(b"\0"):
        meta, _, path = entry.partition(b"\t")
        name = os.fsdecode(path)
        if meta[:6] in REGULAR_FILES and _is_read(name, schedules, undeployed):
            blobs[name] = meta.split(b" ")[2]
    if not blobs:
        raise UserError(
            f'the revision {revision} has no YAML in the folder "{schedules}" of the project',
            "name a revision that has, or compare with the store: `tidegate plan`",
        )
    if len(blobs) > MAX_FILES:
        raise UserError(f"the revision {revision} has more than {MAX_FILES} YAML files", "divide the project")
    return {
        f"{revision}:{name}": content for name, content in zip(blobs, _contents(project, blobs), strict=True)
    }


def read_revision(settings: Settings, revision: str) -> ReadFile:
    """Return a reader of the other files of the project that the YAML of a revision names."""
    project = settings.project
    commit = _commit(project, revision)

    def read(path: str, beside: str = "", max_bytes: int = MAX_FILE_BYTES) -> ProjectFile:
        folders = (Path(beside.removeprefix(f"{revision}:")).parent, Path()) if beside else (Path(),)
        for name in dict.fromkeys(os.path.normpath(folder / path) for folder in folders):
            inside = not path.startswith("/") and ".." not in Path(name).parts
            shown = _run(project, "show", f"{commit}:./{name}") if inside else None
            if shown is not None and shown.returncode == 0:
                return ProjectFile(name=f"{revision}:{name}", content=shown.stdout[: max_bytes + 1])
        return ProjectFile(name=f"{revision}:{path}", fault="no such file in the revision")

    return read


def _commit(project: Path, revision: str) -> str:
    inside = _run(project, "rev-parse", "--is-inside-work-tree")
    if inside.returncode != 0 or inside.stdout.strip() != b"true":
        raise UserError(
            f"{project} is not in a git repository: {_first_line(inside.stderr)}",
            "`tidegate plan` compares with the store, without git",
        )
    named = f"{revision}^{{commit}}"
    found = _run(project, "rev-parse", "--verify", "--quiet", "--end-of-options", named)
    if found.returncode != 0:
        raise UserError(
            f'git has no revision "{revision}"',
            "name a branch, a tag or a commit, for example main or HEAD~1",
        )
    return found.stdout.decode().strip()


def _folders(settings: Settings, commit: str, revision: str) -> tuple[str, tuple[str, ...]]:
    """The folder of the YAML, and what of it is not deployed, relative to the project."""
    project = settings.project
    shown = _run(project, "show", f"{commit}:./{SETTINGS_FILE}")
    if shown.returncode != 0:
        raise UserError(
            f"the revision {revision} has no {SETTINGS_FILE} in {project}",
            "name a revision in which the project exists",
        )
    file = Path(f"{revision}:{SETTINGS_FILE}")
    try:
        content = tomllib.loads(shown.stdout.decode("utf-8"))
        # A revision from before the environment has the folders of its file.
        known = settings.environment in profiles_of(file, content)
        sections = merged(file, content, settings.environment if known else "")
        found = decode(file, resolve(file, sections, settings.environment, may_lack=True).content).project
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{file}: not TOML: {error}", "name another revision") from error
    return _relative(project, found.schedules), tuple(_relative(project, each) for each in found.undeployed)


def _relative(project: Path, path: str) -> str:
    return os.path.relpath(os.path.normpath(project / Path(path).expanduser()), project)


def _is_read(name: str, schedules: str, undeployed: tuple[str, ...]) -> bool:
    """Whether `read_files` would read a file of this name."""
    path = Path(name)
    inside = path.relative_to(schedules).parts
    hidden = any(part.startswith(".") for part in inside)
    left_out = any(path == Path(each) or Path(each) in path.parents for each in undeployed)
    return path.suffix.lower() in SUFFIXES and not hidden and not left_out


def _contents(project: Path, blobs: dict[str, bytes]) -> list[bytes]:
    answer = _git(project, "cat-file", "--batch", given=b"".join(sha + b"\n" for sha in blobs.values()))
    found: list[bytes] = []
    place = 0
    for _ in blobs:
        end = answer.index(b"\n", place)
        size = int(answer[place:end].split(b" ")[2])
        found.append(answer[end + 1 : end + 1 + size])
        place = end + 1 + size + 1
    return found


def _git(project: Path, *arguments: str, given: bytes = b"") -> bytes:
    done = _run(project, *arguments, given=given)
    if done.returncode != 0:
        raise UserError(
            f"git {arguments[0]} failed: {_first_line(done.stderr)}", "repair the repository, and try again"
        )
    return done.stdout


def _run(project: Path, *arguments: str, given: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    # A hook of git sets variables that would lead to another repository.
    environment = {name: value for name, value in os.environ.items() if name not in HOOK_VARIABLES}
    try:
        return subprocess.run(
            ["git", *arguments],
            cwd=project,
            env=environment,
            input=given,
            capture_output=True,
            timeout=GIT_SECONDS,
            check=False,
        )
    except FileNotFoundError as error:
        raise UserError("there is no git on the PATH", "install git") from error
    except subprocess.TimeoutExpired as error:
        raise UserError(f"git {arguments[0]} took longer than {GIT_SECONDS} s", "try again") from error


def _first_line(stderr: bytes) -> str:
    return (stderr.decode(errors="replace").strip().splitlines() or ["no message"])[0]
