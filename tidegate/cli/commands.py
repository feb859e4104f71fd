"""The table of commands: each one's name, where it is written, and its line in `tidegate --help`.

A new command is one new file and one line here. The help stands in the table so that
listing the commands imports none of them.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    """One command.

    Attributes:
        target: "module:name" of a function, or of a `typer.Typer` for a group of commands.
        summary: what it does, one line.
    """

    target: str
    summary: str


COMMANDS: dict[str, Entry] = {
    "init": Entry(
        "tidegate.cli.develop.init:init", "Make a project folder with an app, a program and landed files."
    ),
    "docs": Entry("tidegate.cli.develop.docs:docs", "List the documentation, or print a page of it."),
    "lint": Entry("tidegate.cli.develop.lint:lint", "Check the YAML; print every mistake with its place."),
    "schema": Entry("tidegate.cli.develop.schema:schema", "Print the JSON Schema of the YAML, for editors."),
    "plan": Entry(
        "tidegate.cli.develop.plan:plan", "Show what a deploy would change; exit code 2 when it would."
    ),
    "diff": Entry(
        "tidegate.cli.develop.diff:diff",
        "The same as plan; `diff REF [REF]` compares git revisions of the YAML.",
    ),
    "deploy": Entry("tidegate.cli.develop.deploy:deploy", "Bring the YAML into the schedule store."),
    "schedules": Entry(
        "tidegate.cli.operate.schedules:app", "List, show, suspend, resume, trigger and delete schedules."
    ),
    "jobs": Entry("tidegate.cli.operate.jobs:app", "List, show, cancel and requeue jobs."),
    "gauge": Entry("tidegate.cli.operate.gauge:app", "Report and list the gauges that jobs wait for."),
    "why": Entry(
        "tidegate.cli.operate.why:why", "Say why a schedule runs or waits, and what would unblock it."
    ),
    "events": Entry("tidegate.cli.operate.events:app", "List the events that came, and what became of each."),
    "ledger": Entry(
        "tidegate.cli.operate.ledger:ledger", "Balance the events: landed = consumed + pending + discarded."
    ),
    "test": Entry("tidegate.cli.develop.test:test", "Run the examples of the YAML on a virtual clock."),
    "simulate": Entry(
        "tidegate.cli.develop.simulate:simulate",
        "Play events from a file on a virtual clock, and show what comes of them.",
    ),
    "dev": Entry(
        "tidegate.cli.develop.dev:dev", "Run Dagster on the project; redeploy when the YAML changes."
    ),
    "demo": Entry(
        "tidegate.demo.commands.demo:demo", "Run the example project on real flights, from landing to report."
    ),
    "land": Entry("tidegate.demo.commands.land:land", "Land the next day of the example's feeds."),
    "commits": Entry("tidegate.cli.commits.inspect:app", "List and finish commit sequences."),
    "watermarks": Entry(
        "tidegate.cli.commits.watermarks:app", "List, show and reset how far programs have read what is new."
    ),
    "version": Entry("tidegate.cli.version:version", "Print the version."),
}
