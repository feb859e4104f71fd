"""`tidegate schema`: prints the JSON Schema of the YAML.

Editors read the comment `# yaml-language-server: $schema=...` at the start of a file; save the
schema beside the schedules and write its path there.
"""

import typer


def schema() -> None:
    """Print the JSON Schema (Draft 2020-12) of an app's YAML file, for editors and other tools."""
    from tidegate.compiler.schema import schema_text

    typer.echo(schema_text(), nl=False)
