"""`tidegate completion`: prints the script by which a shell completes commands, options and names.

    eval "$(tidegate completion bash)"

The script calls `tidegate` with `_TIDEGATE_COMPLETE` set, which then prints the possible words and does
nothing else. Names come from the store (`tidegate.cli.names`).
"""

from enum import StrEnum
from typing import Annotated

import typer


class Shell(StrEnum):
    """The shells that have a script."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(shell: Annotated[Shell, typer.Argument(help="The shell.")]) -> None:
    """Print the script that completes commands, options and names in a shell."""
    from typer._completion_shared import get_completion_script

    from tidegate.cli.main import COMPLETION_VARIABLE

    typer.echo(
        get_completion_script(prog_name="tidegate", complete_var=COMPLETION_VARIABLE, shell=shell.value)
    )
