"""`tidegate store`: the size of the schedule store, what retention removes, and its journal as a file."""

import typer

from tidegate.cli.store.export import export_journal
from tidegate.cli.store.prune import prune_store
from tidegate.cli.store.size import show_size

SUMMARY = "Show the size of the schedule store, prune it, export its journal."

app = typer.Typer(no_args_is_help=True, help=SUMMARY)

app.command("size")(show_size)
app.command("prune")(prune_store)
app.command("export")(export_journal)
