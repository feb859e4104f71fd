"""The table of commands: name, target and the line in `tidegate --help`.

A new command is one new file and one line here, in its group. The help is in the table so that listing the
commands imports none of them.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    """One command.

    Attributes:
        target: "module:name" of a function, or of a `typer.Typer` for a group of commands.
        summary: help of one line.
    """

    target: str
    summary: str


GROUPS: dict[str, dict[str, Entry]] = {
    "develop": {
        "init": Entry(
            "tidegate.cli.develop.init:init",
            "Create a project folder with an app, a program and landed files.",
        ),
        "lint": Entry(
            "tidegate.cli.develop.lint:lint", "Check the YAML; print every mistake with its position."
        ),
        "fmt": Entry(
            "tidegate.cli.develop.fmt:fmt", "Format the YAML: order of keys, indentation; keeps comments."
        ),
        "render": Entry(
            "tidegate.cli.develop.render:render",
            "Print an app as YAML, with the parts that its templates and defaults make.",
        ),
        "lineage": Entry(
            "tidegate.cli.datasets.lineage:lineage",
            "Show which columns of which datasets a dataset, or a column of it, comes from.",
        ),
        "columns": Entry(
            "tidegate.cli.datasets.columns:columns",
            "Write the `columns` of a dataset whose table exists, for its YAML.",
        ),
        "schema": Entry(
            "tidegate.cli.develop.reference:schema", "Print the JSON Schema of the YAML, for editors."
        ),
        "test": Entry("tidegate.cli.develop.test:test", "Run the examples of the YAML on a virtual clock."),
        "simulate": Entry(
            "tidegate.cli.develop.simulate:simulate",
            "Play events from a file on a virtual clock, and show the jobs that result.",
        ),
        "import": Entry(
            "tidegate.cli.develop.import_schedules:app",
            "Translate the schedules of cron or CDAP into the YAML of an app.",
        ),
        "run": Entry(
            "tidegate.cli.operate.run:run", "Run one program now, in this process and without the queue."
        ),
        "dev": Entry(
            "tidegate.cli.develop.dev:dev", "Run Dagster on the project; redeploy when the YAML changes."
        ),
        "demo": Entry(
            "tidegate.demo.commands:demo",
            "Run the example project on real flights, from landing to report.",
        ),
        "land": Entry("tidegate.demo.commands:land", "Land the next day of the example's feeds."),
        "docs": Entry(
            "tidegate.cli.develop.reference:docs", "List the documentation, or print a page of it."
        ),
        "completion": Entry(
            "tidegate.cli.develop.completion:completion",
            "Print the script that completes commands, options and names in a shell.",
        ),
        "version": Entry("tidegate.cli.version:version", "Print the version."),
    },
    "deploy": {
        "plan": Entry(
            "tidegate.cli.develop.plan:plan",
            "Show what a deploy would change; exit code 2 if there are changes.",
        ),
        "diff": Entry(
            "tidegate.cli.develop.diff:diff",
            "The same as plan; `diff REF [REF]` compares git revisions of the YAML.",
        ),
        "deploy": Entry("tidegate.cli.develop.deploy:deploy", "Deploy the YAML to the schedule store."),
        "deployments": Entry(
            "tidegate.cli.operate.deployments:app", "List, show and compare deployments; roll back to one."
        ),
    },
    "look": {
        "status": Entry(
            "tidegate.cli.operate.health.status:status",
            "Say whether everything is alive, and what waits or has failed.",
        ),
        "why": Entry(
            "tidegate.cli.operate.why:why",
            "Explain why a schedule, job or instance waits, and what helps.",
        ),
        "explain": Entry(
            "tidegate.cli.develop.reference:explain",
            "Say what a code means, what has led to it, and what to do.",
        ),
        "late": Entry(
            "tidegate.cli.operate.lists:late", "List jobs and data that have missed their deadline."
        ),
        "day": Entry(
            "tidegate.cli.operate.instances.day:day",
            "Show a day: tasks by hours, in a terminal or as a page.",
        ),
        "ledger": Entry(
            "tidegate.cli.operate.lists:ledger",
            "Balance the events: succeeded, running, failed, pending, discarded.",
        ),
        "alerts": Entry(
            "tidegate.cli.operate.alerts:app", "List what was sent to people, send it again, test a channel."
        ),
    },
    "operate": {
        "apps": Entry(
            "tidegate.cli.operate.apps:app", "List the apps; stop and continue the launches of one."
        ),
        "schedules": Entry(
            "tidegate.cli.operate.schedules:app",
            "List, show, change, suspend, resume, trigger and delete schedules.",
        ),
        "jobs": Entry("tidegate.cli.operate.jobs:app", "List, show, cancel, retry, force and requeue jobs."),
        "tasks": Entry("tidegate.cli.operate.lists:app", "List the cycle tasks and their next instances."),
        "instances": Entry(
            "tidegate.cli.operate.instances.instances:app",
            "List, show, mark, pause, resume and rerun the instances of tasks.",
        ),
        "backfill": Entry(
            "tidegate.cli.operate.instances.backfill:app",
            "Run tasks for business dates of the past; follow and cancel it.",
        ),
        "overrides": Entry(
            "tidegate.cli.operate.overrides:app", "List, show and revert what was changed by hand."
        ),
    },
    "data": {
        "report": Entry(
            "tidegate.cli.operate.intake.report:report",
            "Report partitions of a dataset that have landed, or instances of sources and external tasks.",
        ),
        "watch": Entry(
            "tidegate.cli.operate.intake.watch:watch",
            "Look once at the folders of datasets with `watch`; say what is new and what it waits for.",
        ),
        "datasets": Entry(
            "tidegate.cli.datasets.show:app",
            "Show what is declared of a dataset, and what writes and reads it.",
        ),
        "checks": Entry(
            "tidegate.cli.datasets.checks:app", "Show what the checks of datasets have found, now and before."
        ),
        "events": Entry(
            "tidegate.cli.operate.intake.events:app",
            "List the received events and the result of each; feed some once more.",
        ),
        "gauge": Entry(
            "tidegate.cli.operate.intake.gauge:app", "Report and list the gauges that jobs wait for."
        ),
        "commits": Entry("tidegate.cli.commits.inspect:app", "List and finish commit sequences."),
        "watermarks": Entry(
            "tidegate.cli.commits.watermarks:app", "List, show and reset the watermarks of incremental reads."
        ),
    },
    "tables": {
        "maintenance": Entry(
            "tidegate.cli.maintenance.group:app",
            "Show the health of tables and what the policies do about it; run operations by hand.",
        ),
    },
    "services": {
        "host": Entry(
            "tidegate.cli.operate.host:host",
            "Drive the engine and create runs without waiting for Dagster's sensors; "
            "a service in production.",
        ),
        "serve": Entry(
            "tidegate.cli.operate.serve:serve",
            "Answer over HTTP: apps, schedules, events, jobs; runs the host too.",
        ),
        "token": Entry("tidegate.cli.operate.tokens:app", "Create, list and revoke the tokens of callers."),
        "store": Entry(
            "tidegate.cli.store:app",
            "Show the size of the schedule store, prune it, export its journal.",
        ),
        "doctor": Entry(
            "tidegate.cli.operate.health.status:doctor",
            "Check the store, the host, Dagster's daemon, database and code location; say what to do.",
        ),
    },
}
"""The commands as `tidegate --help` groups them: who is new reads from above."""

COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}
