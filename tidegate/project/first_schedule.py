"""The first YAML of a project beside an existing one: a schedule over one of its jobs.

    jobs of theirs ─► the one that needs least: neither config nor partitions that have no spelling here
                   ─► an app with the job as its program, and a schedule that starts suspended

Where a schedule of theirs starts the job, the cron is that one's, and the text says to switch one of the two
off.
"""

import json
import re
from collections.abc import Sequence

import yaml

from tidegate.dagster_defs.compare.question import UNKNOWN, TheirJob

NAME_CHARS = 60
DEFAULT_CRON = "0 6 * * *"


def first_job(jobs: Sequence[TheirJob]) -> TheirJob | None:
    """Return the job that a first schedule is easiest over; None where none can have one."""
    usable = [each for each in jobs if each.partitions != UNKNOWN]
    return min(
        usable, key=lambda each: (each.needs_config, not each.cron, each.partitions != ""), default=None
    )


def name_of(text: str, otherwise: str) -> str:
    """Return a text of others as a name of the language."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:NAME_CHARS]
    return name if re.match(r"[a-z]", name) else f"{otherwise}_{name}".rstrip("_")


def first_app(app: str, job: TheirJob) -> str:
    """Return the text of an app with a schedule over a job."""
    name = name_of(job.name, "job")
    timezone = f", timezone: {json.dumps(job.timezone)}" if job.timezone else ""
    lines = [
        "# yaml-language-server: $schema=app.schema.json",
        f"# A schedule over the job {job.name} of {job.location}, of which nothing changes.",
        *_warning(job),
        f"app: {app}",
        "programs:",
        f"  {name}:",
        f"    job: {_text(job.name)}",
        *([] if job.unique else [f"    location: {_text(job.location)}"]),
        *([f"    partitions: {job.partitions}"] if job.partitions else []),
        *(["    config: {}  # what a run of the job needs"] if job.needs_config else []),
        "schedules:",
        f"  {name}:",
        f"    program: {name}",
        f"    trigger: {{cron: {json.dumps(job.cron or DEFAULT_CRON)}{timezone}}}",
        "    retries: 2",
        "    status: suspended  # `tidegate schedules resume` starts it",
    ]
    return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    """Return a text as YAML; a name with letters needs no quotes, unless it is a word of YAML."""
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]*", value) and isinstance(yaml.safe_load(value), str)
    return value if plain else json.dumps(value, ensure_ascii=False)


def _warning(job: TheirJob) -> list[str]:
    if not job.schedule:
        return []
    return [
        f"# The schedule {job.schedule} of yours starts the job at these times, too: switch it off in",
        "# Dagster before you resume this one.",
    ]
