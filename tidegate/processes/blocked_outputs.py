"""The blocked outputs of a schedule's program, for `tidegate why`.

The engine does not check commits before a launch; a run with a blocked output fails immediately.
`tidegate why` therefore shows the blocked outputs too.
"""

import json

import msgspec

from tidegate.scheduler.explain.explanation import Blocked, Explanation
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.spark_jobs.commit.recovery import is_blocked
from tidegate.spark_jobs.commit.sequence import is_watermark_resource


def with_blocked(explanation: Explanation, store: Store, reader: EngineReader) -> Explanation:
    """Return the explanation with the datasets that a run of its program could not write now."""
    if not isinstance(store, SqlStore):
        return explanation
    commits = SqlCommitStepStore(store.engine)
    found = [each for dataset in _written(explanation, reader) for each in _blocked(commits, dataset)]
    return msgspec.structs.replace(explanation, blocked=tuple(found))


def _written(explanation: Explanation, reader: EngineReader) -> tuple[str, ...]:
    """Return the outputs of its program as "app/dataset"."""
    name, _, _ = explanation.schedule.partition("/")
    app = next(iter(reader.apps(names=[name])), None)
    state = next(iter(reader.schedules(refs=[explanation.schedule])), None)
    if app is None or state is None:
        return ()
    program = app.app.programs.get(state.spec.program)
    return () if program is None else tuple(f"{name}/{dataset}" for dataset in program.writes)


def _remedy(commits: SqlCommitStepStore, commit: str, dataset: str) -> str:
    remedy = f"tidegate commits show {commit}, then recover or abandon it"
    try:
        written: list[str] = json.loads(commits.get(commit) or "{}").get("datasets", [])
    except ValueError:
        return remedy
    if any(name != dataset and not is_watermark_resource(name) for name in written):
        return f"{remedy}, or only its lost outputs: tidegate commits abandon {commit} --output DATASET"
    return remedy


def _blocked(commits: SqlCommitStepStore, dataset: str) -> tuple[Blocked, ...]:
    found = [(commit, commits.recovery_state(commit)) for commit in commits.list_unfinished(dataset)]
    return tuple(
        Blocked(
            dataset=dataset,
            commit=commit,
            error=state.error,
            remedy=_remedy(commits, commit, dataset),
        )
        for commit, state in found
        if state is not None and is_blocked(state)
    )
