"""`tidegate schema`: prints the JSON Schema of the YAML.

Editors take it from the comment `# yaml-language-server: $schema=...` at the head of a
file; save it beside the schedules and name it there.
"""

import typer


def schema() -> None:
    """Print the JSON Schema (Draft 2020-12) of an app's YAML file, for editors and other tools."""
    from tidegate.compiler.schema import schema_text

    typer.echo(schema_text(), nl=False)
