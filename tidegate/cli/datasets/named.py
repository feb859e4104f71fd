"""The dataset that a command names, in the deployed apps or, where nothing is deployed, in the YAML."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.printing import Format
from tidegate.domain.error import UserError

if TYPE_CHECKING:
    from tidegate.domain.model import App
    from tidegate.scheduler.store.engine_reader import EngineReader

DEPLOYED, YAML = "deployed", "yaml"
"""Where the apps are from."""

DatasetArgument = Annotated[
    str, typer.Argument(help="Name of the dataset, with its app or alone.", show_default=False)
]
AppOption = Annotated[
    str | None, typer.Option("--app", help="The app of the dataset.", metavar="NAME", show_default=False)
]


def known_apps(format: Format, name: str) -> "tuple[str, Mapping[str, App]]":
    """Return where the apps are from, and the deployed ones, or those of the YAML where there are none."""
    from tidegate.cli.checked_yaml import check_yaml, end_unless_ok
    from tidegate.cli.opened_store import ask_store
    from tidegate.project.settings.settings import load_settings

    def read(reader: "EngineReader") -> "Mapping[str, App]":
        from tidegate.scheduler.explain.names import in_namespace
        from tidegate.scheduler.model.deployed import APPS

        in_namespace(reader, name)
        return {each.name: each.app for each in reader.records(APPS)}

    settings = load_settings()
    deployed = ask_store(settings, read, {})
    if deployed:
        return DEPLOYED, deployed
    compilation = check_yaml([settings.schedules], settings)
    end_unless_ok(compilation, format)
    return YAML, compilation.models()


def whole_name_of(name: str, app: str | None, apps: "Mapping[str, App]", datasets: Collection[str]) -> str:
    """Return "app/dataset" of the dataset of a name, with its app or alone.

    Args:
        datasets: those of the apps, "app/dataset".

    Raises:
        UserError: there is no such app or dataset, or several apps have one.
    """
    from tidegate.domain.part_name import app_of, name_of, namespace_and_app, without_namespace
    from tidegate.domain.suggest import did_you_mean

    wanted = without_namespace(name)
    only = namespace_and_app(app)[1] if app else None
    if only is not None and only not in apps:
        raise UserError(f'there is no app "{app}"', did_you_mean(only, apps, "apps"))
    known = sorted(each for each in datasets if only in (None, app_of(each)))
    found = [each for each in known if wanted in (each, name_of(each))]
    if len(found) == 1:
        return found[0]
    if found:
        raise UserError(f'several apps have a dataset "{name}"', f"write one of {', '.join(found)}")
    shown = known if "/" in wanted else [name_of(each) for each in known]
    raise UserError(f'there is no dataset "{name}"', did_you_mean(wanted, shown, "datasets"))


def datasets_of(apps: "Mapping[str, App]") -> set[str]:
    """Return the datasets of apps, "app/dataset"."""
    return {f"{app.name}/{name}" for app in apps.values() for name in app.datasets}
