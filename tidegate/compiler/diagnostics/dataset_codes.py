"""The codes of what is asked of datasets: folders that are watched, and deadlines."""

from tidegate.compiler.diagnostics.entry import Entry, error

DATASET_CODES: dict[str, Entry] = {
    "L419": error(
        "nothing to watch",
        "`watch` is for landed files: a dataset with a `path` that no program of the app writes.",
    ),
    "L421": error(
        "no period to expect",
        "The deadline of a dataset is about its periods, or about its updates if it has no partitions."
        " Partitions that are only a list of keys have no end.",
    ),
}
