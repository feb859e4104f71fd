"""The diagnostics of the rules that a project adds in `[lint.rules]`; part of the catalogue.

Their severity is that of the rule in the settings; here is the one without any.
"""

from tidegate.compiler.diagnostics.entry import Entry, error

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
