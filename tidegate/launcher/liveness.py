"""Whether a run has a process, or can still get one: what its machine knows before the run has begun.

    tag: the launcher and the server's folder ─► record: the server ─► record: the process of the run

The process decides, and before there is one the server that is to fork it. Without a record the launcher
has not asked a server yet, or has died before. A launcher, server or process elsewhere is unknown here.
"""

from pathlib import Path

import msgspec
from dagster import DagsterRun

from tidegate.dagster_defs.deployed.tags import LAUNCH
from tidegate.domain.value import Value
from tidegate.launcher.place import Place
from tidegate.launcher.records import NO_PROCESS, Records
from tidegate.spark_jobs.commit.process import ProcessState, shown, state_of, this_process

NO_SERVER = ""
"""Value of the tag `LAUNCH` of a run that has inherited one, and is launched in another way."""

NOTHING_KNOWN = (ProcessState.UNKNOWN, "nothing is known of its process")


class LaunchNote(Value, frozen=True, kw_only=True):
    """Who launches a run, and in which folder the run server will record it."""

    launcher: str
    folder: str


def note_of_launch(place: Place) -> str:
    """Return the tag of a run that this process is about to launch; its folder exists from then on."""
    place.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    note = LaunchNote(launcher=this_process(), folder=str(place.directory))
    return msgspec.json.encode(note).decode()


def liveness_of(run: DagsterRun) -> tuple[ProcessState, str]:
    """Return whether a run that has not ended has a process or will get one, and why."""
    text = run.tags.get(LAUNCH, NO_SERVER)
    if text == NO_SERVER:
        return NOTHING_KNOWN
    note = msgspec.json.decode(text, type=LaunchNote)
    if not Path(note.folder).is_dir():
        return NOTHING_KNOWN
    record = Records(Path(note.folder)).get(run.run_id)
    if record is None:
        # A launcher that lives may have failed: that it lives says nothing of the run.
        if state_of(note.launcher) is ProcessState.ENDED:
            return (
                ProcessState.ENDED,
                f"its launcher, {shown(note.launcher)}, ended before a run server had it",
            )
        return NOTHING_KNOWN
    if record.process == NO_PROCESS:
        return state_of(
            record.server
        ), f"its run server, {shown(record.server)}, ended before it had a process"
    return state_of(record.process), f"{shown(record.process)} has ended without a word"
