"""Compares the programs of the YAML with the loaded locations, and answers for each of them.

    the job, or the assets ─► in one loaded location (N332 to N335) ─┬─► its partitions (N336, L481)
                                                                     └─► its config (V261)

A location that is not loaded may have the job: then nothing is said but that. Where they are asked for, the
jobs of all locations are answered as well (`compare.jobs`).

`python -m` of this module reads a `Request` from the standard input and writes `Answers` to the file that its
argument names, since the code of the locations may print. It ends at once then, without waiting for locations
that hang; who started it ends the code servers.
"""

import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tidegate.dagster_defs.compare.config import config_faults
from tidegate.dagster_defs.compare.jobs import jobs_of
from tidegate.dagster_defs.compare.loading import Loaded, load_locations
from tidegate.dagster_defs.compare.partitions import partition_faults, range_faults
from tidegate.dagster_defs.compare.question import (
    NO_LOCATION,
    Answer,
    Answers,
    Fault,
    Key,
    Question,
    Request,
)
from tidegate.dagster_defs.compare.selection import one_run_faults, selection_faults
from tidegate.dagster_defs.existing.loaded import Target, configures_partitions, cut_of, targets
from tidegate.dagster_defs.existing.request import Impossible
from tidegate.dagster_defs.internals.remote_jobs import JobSubsetSelector
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.wording import listed, shown


def answer_all(request: Request, loaded: Loaded) -> Answers:
    """Return the answers to all questions."""
    answers = {each.program: _answer(each, loaded) for each in request.questions}
    jobs = tuple(jobs_of(loaded.locations.values())) if request.jobs else ()
    return Answers(problems={**loaded.problems, **loaded.unlisted}, answers=answers, jobs=jobs)


def _answer(question: Question, loaded: Loaded) -> Answer:
    wanted = question.existing
    if NO_LOCATION in loaded.problems:
        return Answer(away=(NO_LOCATION,))
    if wanted.location in loaded.problems or wanted.location in loaded.unlisted:
        return Answer(away=(wanted.location,))
    locations = loaded.locations
    chosen = [locations[wanted.location]] if wanted.location else list(locations.values())
    found = [each for location in chosen for each in targets(location, wanted)]
    if len(found) > 1:
        return Answer(faults=(_several(question, found),))
    away = () if wanted.location else tuple(sorted(loaded.problems))
    if not found and away:
        return Answer(away=away)
    wrong = selection_faults(wanted.assets, chosen, found) if wanted.assets and not away else []
    if not found:
        return Answer(faults=tuple(wrong) or (_no_job(question, loaded),))
    assets = sorted(key.to_user_string() for key in found[0].assets or ())
    return Answer(faults=(*wrong, *_faults(question, found[0])), assets=tuple(assets))


def _several(question: Question, found: list[Target]) -> Fault:
    key: Key = "job" if question.existing.job else "assets"
    names = [each.location.name for each in found]
    summary = f"one location has the {key} of a program, got {question.existing.title} in "
    if len(set(names)) == 1:
        repositories = [each.repository.name for each in found]
        hint = "give them names of their own"
        summary = f"{summary}{listed(repositories, 'and')} of {names[0]}"
    else:
        hint = f"write {listed([f'`location: {name}`' for name in names])}"
        summary = f"{summary}{listed(names, 'and')}"
    return Fault(code="N333", key=key, summary=summary, hint=hint)


def _no_job(question: Question, loaded: Loaded) -> Fault:
    wanted = question.existing
    job, location = wanted.job, wanted.location
    others = [
        each.name for each in loaded.locations.values() if each.name != location and targets(each, wanted)
    ]
    chosen = [loaded.locations[location]] if location else list(loaded.locations.values())
    known = {
        each.name
        for place in chosen
        for repository in place.get_repositories().values()
        for each in repository.get_all_jobs()
        if not each.name.startswith(HIDDEN)
    }
    where = f"location {location} has no such job" if location else "no location has such a job"
    hint = f"write `location: {others[0]}`" if others else did_you_mean(job, known, "jobs")
    return Fault(code="N332", key="job", summary=f"{where}, got {shown(job)}", hint=hint)


HIDDEN = "__"
"""Prefix of the jobs that Dagster makes for itself."""


def _faults(question: Question, found: Target) -> Iterator[Fault]:
    try:
        cut = cut_of(found)
    except Impossible as error:
        yield from one_run_faults(found, error.message, error.hint)
        return
    config = question.existing.config
    if question.schemes or config is None or found.keys or cut.definition is None:
        # A job of ops that gets its whole config needs no partition.
        yield from partition_faults(question, cut.definition)
        yield from range_faults(question, found, cut)
    if config is not None or not configures_partitions(found):
        selector = JobSubsetSelector(
            location_name=found.location.name,
            repository_name=found.repository.name,
            job_name=found.job,
            op_selection=None,
            asset_selection=None if found.assets is None else sorted(found.assets),
            asset_check_selection=None,
        )
        yield from config_faults(found.location.get_job(selector), question.existing.title, config or {})


def main() -> None:
    """Load and compare, as the standard input asks."""
    answer_file = Path(sys.argv[1])
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)
    answers = answer_all(request, load_locations(request))
    answer_file.write_bytes(msgspec.json.encode(answers))


if __name__ == "__main__":
    code = 1
    try:
        main()
        code = 0
    except Exception:  # noqa: BLE001 -- the process ends by `_exit`, which prints nothing
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
