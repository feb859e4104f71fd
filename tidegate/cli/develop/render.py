"""`tidegate render`: prints an app as it is deployed, without templates, defaults and variables.

What is printed is YAML in the layout of `tidegate fmt`, for people who want to see what a template makes, and
for tools that compare it.
"""

from pathlib import Path
from typing import Annotated

import typer

from tidegate.cli.checked_yaml import check_yaml, end_unless_ok
from tidegate.cli.printing import Format
from tidegate.domain.error import UserError


def render(
    app: Annotated[str, typer.Argument(help="Name of the app.")],
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Files and folders; default: the project's schedules.", show_default=False),
    ] = None,
) -> None:
    """Print the app as YAML, with the parts that its templates and defaults make."""
    from tidegate.compiler.render.app_yaml import app_yaml
    from tidegate.domain.suggest import did_you_mean
    from tidegate.project.settings.settings import load_settings

    compilation = check_yaml(paths or [load_settings(may_lack=True).schedules])
    found = compilation.apps.get(app)
    if found is None:
        end_unless_ok(compilation, Format.TEXT)
        raise UserError(f'the YAML has no app "{app}"', did_you_mean(app, compilation.apps, "apps"))
    typer.echo(app_yaml(found.document), nl=False)
