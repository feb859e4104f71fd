"""The arguments that the commands of `tidegate maintenance` share."""

from typing import Annotated

import typer

TableArgument = Annotated[
    str,
    typer.Argument(
        help='The table: "catalog.namespace.table", "app/dataset", or its end if only one table has it.'
    ),
]
