"""`tidegate checks`: what the checks of datasets have found, and in the runs before."""

from collections.abc import Collection

import typer

from tidegate.cli.listing import Given, Part, Parts, list_command
from tidegate.cli.printing import NUMBER_MAX
from tidegate.domain.error import WrongUsage
from tidegate.listings.checks import CHECKS

app = typer.Typer(help="Show what the checks of datasets have found.", no_args_is_help=True)

NOTHING = "No run has staged rows of a dataset with checks."


def _newest(given: Given, _forms: Collection[str]) -> Parts:
    return Parts([Part("", given)], NOTHING)


def _history(given: Given, _forms: Collection[str]) -> Parts:
    if "dataset" not in given:
        hint = "write for example: tidegate checks show app/dataset"
        raise WrongUsage("`checks show` is about one dataset, got none", hint)
    return Parts([Part("", {"history": True, **given})], NOTHING)


app.command("list")(list_command(CHECKS, _newest, limit=NUMBER_MAX, argument="dataset"))
app.command("show")(
    list_command(
        CHECKS,
        _history,
        limit=200,
        json_limit=NUMBER_MAX,
        argument="dataset",
        help="Show what each check of a dataset has found, in the newest run and in those before.",
    )
)
