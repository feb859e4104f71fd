"""The codes of what the settings and the world around an app have: channels, folders, deadlines, house rules.

The rules of a project, `[lint.rules]`, have the severity that the settings give them; here is the one
without any.
"""

from tidegate.compiler.diagnostics.entry import Entry, error, warning

DATASET_CODES: dict[str, Entry] = {
    "N319": error(
        "unknown channel",
        "`alerts` of an app, a dataset, a schedule or a task names channels of `tidegate.toml`, of"
        " `[alerts.channels]` there or in an environment. An alert for another one is not sent.",
    ),
    "L419": error(
        "nothing to watch",
        "`watch` is for landed files: a dataset with a `path` that no program of the app writes.",
    ),
    "L421": error(
        "no period to expect",
        "The deadline of a dataset is about its periods, or about its updates if it has no partitions."
        " Partitions that are only a list of keys have no end.",
    ),
    "L422": warning(
        "deadline that is always missed",
        "The crons fire, and no window opens before the deadline, so every job of the schedule is late.",
    ),
}


HOUSE_CODES: dict[str, Entry] = {
    "T511": error("no owner", "The project asks for an `owner` of every schedule and task (`[lint.rules]`)."),
    "T512": error(
        "no timeout",
        "The project asks for a `timeout` in the YAML of every schedule and task (`[lint.rules]`).",
    ),
    "T513": error(
        "no description",
        "The project asks for a `description` of every schedule and task: `description` in `[lint.rules]`.",
    ),
    "T514": error(
        "name outside the pattern",
        "The project asks that names of schedules and tasks fit a pattern: `name` in `[lint.rules]`.",
    ),
    "T515": error(
        "too many schedules in an app",
        "The project limits the schedules and tasks of an app: `max_per_app` in `[lint.rules]`.",
    ),
    "T516": error(
        "too many schedules in a group",
        "The project limits the schedules and tasks of an app that share a concurrency group: `max_per_group`"
        " in `[lint.rules]`.",
    ),
    "T517": error(
        "kind of trigger not allowed",
        "The project allows some kinds of triggers at the root of a schedule: `triggers` in `[lint.rules]`.",
    ),
}
