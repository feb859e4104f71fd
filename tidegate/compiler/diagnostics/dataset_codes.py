"""The codes of what the settings and the world around an app have: channels, folders, deadlines."""

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
