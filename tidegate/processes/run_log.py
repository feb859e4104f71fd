"""The end of a run's log, where Dagster keeps it in a folder of this machine.

Dagster writes what a run prints to its standard error to HOME/storage/RUN/compute_logs/KEY.err, unless its
`dagster.yaml` names another folder, or another place than a folder. The file is read from its end, and never
more than `BYTES_MAX`: it may have any size. Of its path only the id of the run varies; it must look like one.
"""

import os
import re
from itertools import islice
from pathlib import Path

import yaml

from tidegate.domain.value import Value
from tidegate.processes.home import home_in_use
from tidegate.project.settings.settings import Settings

LINES_MAX = 200
BYTES_MAX = 256_000
LINE_MAX = 2_000
"""Characters of a line that are shown."""

STEPS_MAX = 100
"""So many files of one run are looked at."""

RUN = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
LOCAL = "LocalComputeLogManager"


class RunLog(Value, kw_only=True):
    """The end of a log.

    Attributes:
        lines: the last ones, the oldest first.
        whole: whether that is all of it.
    """

    lines: tuple[str, ...]
    whole: bool


def read_log(settings: Settings, run_id: str) -> RunLog | None:
    """Return the last lines of the standard error of a run; None if there is no log of it here."""
    run = run_id.partition("/")[0]
    folder = None if RUN.fullmatch(run) is None else _folder(home_in_use(settings))
    if folder is None:
        return None
    try:
        found = _newest(folder / run / "compute_logs")
        return None if found is None else _end_of(found)
    except OSError:
        # It was removed meanwhile, or belongs to another user.
        return None


def _folder(home: Path) -> Path | None:
    """Return the folder of the logs of an instance; None if they are elsewhere."""
    try:
        settings = yaml.safe_load((home / "dagster.yaml").read_text("utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        settings = None
    section = settings.get("compute_logs") if isinstance(settings, dict) else None
    if not isinstance(section, dict):
        return home / "storage"
    config = section.get("config")
    base = config.get("base_dir") if isinstance(config, dict) else None
    if isinstance(base, dict):
        base = os.environ.get(str(base.get("env")))
    return Path(base) if section.get("class") == LOCAL and isinstance(base, str) else None


def _newest(folder: Path) -> Path | None:
    """Return the log that was written last; a link is none."""
    with os.scandir(folder) as entries:
        found = [
            (each.stat(follow_symlinks=False).st_mtime, each.path)
            for each in islice(entries, STEPS_MAX * 3)
            if each.name.endswith(".err") and each.is_file(follow_symlinks=False)
        ]
    return Path(max(found)[1]) if found else None


def _end_of(file: Path) -> RunLog:
    with file.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        begin = max(size - BYTES_MAX, 0)
        stream.seek(begin)
        text = stream.read(BYTES_MAX).decode("utf-8", "replace")
    lines = text.splitlines()
    if begin:
        # The first line may have begun before.
        lines = lines[1:]
    shown = tuple(line[:LINE_MAX] for line in lines[-LINES_MAX:])
    return RunLog(lines=shown, whole=begin == 0 and len(shown) == len(lines))
