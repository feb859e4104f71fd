"""The diagnostics that are about table maintenance alone; part of the catalogue."""

from tidegate.compiler.diagnostics.entry import Entry, error, warning

MAINTENANCE_CODES: dict[str, Entry] = {
    "V250": error(
        "bad pattern of tables",
        "A pattern is catalog.namespace.table, its last two parts or its last part, /regex/ for the whole"
        " name, or app/dataset. Each part is a name, a glob with `*` and `?`, or /regex/. A pattern has at"
        " most 256 characters, a regex 128. A regex repeats nothing that itself repeats, and has no"
        " look-around and no back-references, so that a match takes linear time.",
    ),
    "V251": error(
        "keys that exclude each other",
        "An operation has `cron` or `interval`, and its `when` has `any` or `all`. Delete one of the two.",
    ),
    "V252": error(
        "unsafe limit",
        "A file that a run has written is in no snapshot until the run commits. So `remove_orphan_files`"
        " takes nothing that is younger than a day.",
    ),
    "V253": error(
        "values in the wrong order",
        "A small file is smaller than a large one, and a warning does not begin after what is critical.",
    ),
    "N318": error(
        "maintenance in two apps",
        "`maintenance` is about the whole store, so one app has it. An app may have `policies` without it.",
    ),
    "L470": warning(
        "shorter than a poll",
        "Operations are started at polls only. A window that is shorter than a poll may open and close"
        " between two of them, and of the times of a cron or interval that is finer than a poll most are"
        " passed over.",
    ),
    "L471": warning(
        "pattern of a dataset that does not exist",
        "The app of the pattern has no such dataset, so the pattern matches nothing.",
    ),
}
