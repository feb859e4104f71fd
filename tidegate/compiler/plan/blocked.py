"""Why a deployment cannot be carried out now, beyond removed parts (`compiler.plan.diff.Refusal`).

A rename has to wait until no run works under the old name, since a run publishes under the names
that it was started with. A removed app must not leave a publish unfinished. And a dataset that keeps its
place after a rename must not share it with a new one. And one app of a store has `maintenance`. Pure.
"""

from collections.abc import Iterator, Mapping

from tidegate.compiler.plan.renames import Renames
from tidegate.domain.model import App
from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value


class Blocked(Value, kw_only=True):
    """A reason not to deploy.

    Attributes:
        summary: what is in the way.
        remedy: what to do about it.
        forcible: whether `--force` deploys in spite of it.
        withheld: the withheld commit that is abandoned then; "" for none.
    """

    summary: str
    remedy: str
    forcible: bool = False
    withheld: str = ""


def at_work(old: str, new: str, work: str) -> Blocked:
    """Return the block of a rename by a run or a publish."""
    return Blocked(
        summary=f"{old} cannot be renamed to {new} while {work}",
        remedy="wait for it to end, or terminate it in Dagster (`tidegate commits recover` finishes a"
        " publish), and deploy again",
    )


def unfinished(app: str, commit: str) -> Blocked:
    """Return the block of the removal of an app by an unfinished publish."""
    return Blocked(
        summary=f"app {app} cannot be removed: commit {commit} of it is not finished",
        remedy="finish it with `tidegate commits recover`, or give it up with `tidegate commits abandon`;"
        " --force removes the app in spite of it",
        forcible=True,
    )


def withheld(ref: str, commit: str) -> Blocked:
    """Return the block of the rename or removal of a part by a withheld publish."""
    return Blocked(
        summary=f"{ref} cannot be renamed or removed: commit {commit} of it is withheld",
        remedy=f"publish it with `tidegate commits release {commit}`, or give it up with `tidegate commits"
        " abandon`; --force abandons it",
        forcible=True,
        withheld=commit,
    )


def shared_places(after: Mapping[str, App], others: Mapping[str, App] | None = None) -> Iterator[Blocked]:
    """Yield the blocks of datasets that would share a place in the warehouse.

    Args:
        after: the apps that the deployment is about, after it.
        others: the other apps in the same warehouse.
    """
    apps = (*(others or {}).values(), *after.values())
    if all(dataset.stored_as is None for app in apps for dataset in app.datasets.values()):
        # Each is at its own name, and names differ.
        return
    first: dict[str, str] = {}
    placed = [
        (dataset.stored_as or f"{app.name}/{dataset.name}", f"{app.name}/{dataset.name}")
        for app in apps
        for dataset in app.datasets.values()
        if dataset.path is None and not dataset.asset
    ]
    for place, ref in placed:
        earlier = first.setdefault(place, ref)
        if earlier != ref and not {app_of(earlier), app_of(ref)}.isdisjoint(after):
            kept, new = (earlier, ref) if place != earlier else (ref, earlier)
            yield Blocked(
                summary=f"dataset {new} would share its place with {kept}, which keeps it since its rename",
                remedy=f"give dataset {new} another name, or a `path`",
            )


def second_maintenance(after: Mapping[str, App], others: Mapping[str, App]) -> Iterator[Blocked]:
    """Yield the blocks of apps with `maintenance` beside a deployed one that has it.

    Args:
        after: the apps that the deployment is about, after it. Lint has compared them with each other.
        others: the other apps of the store.
    """
    deployed = next((name for name in sorted(others) if others[name].maintenance is not None), None)
    for name in sorted(after):
        if deployed is not None and after[name].maintenance is not None:
            yield Blocked(
                summary=f"app {name} has `maintenance`, which is about the whole store, and so has app"
                f" {deployed}, which is deployed",
                remedy=f"delete it in one of the two, and deploy app {deployed} first if it is there",
            )


def touched(names: Renames, app: App) -> Iterator[tuple[str, str, str]]:
    """Yield each program of a deployed app whose run uses a renamed part: program, old and new name."""
    for program in app.programs.values():
        ref = f"{app.name}/{program.name}"
        if ref in names.programs:
            yield ref, ref, names.programs[ref]
            continue
        for dataset in (*program.reads, *program.writes):
            used = dataset if "/" in dataset else f"{app.name}/{dataset}"
            if used in names.datasets:
                yield ref, used, names.datasets[used]
                break
