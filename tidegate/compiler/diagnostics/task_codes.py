"""The diagnostics that are about cycle tasks or table maintenance alone; part of the catalogue."""

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


TASK_CODES: dict[str, Entry] = {
    "V240": error(
        "time of another cycle",
        "Each cycle has its own keys in `at`: minutes have every, from and to, hours also minute; days have"
        " time, weeks also weekdays, months days, years dates.",
    ),
    "V241": error(
        "bad time of a task",
        "`every` is whole minutes from 1m to 30m, or whole hours from 1h to 24h. `from` is not after `to`,"
        " and for hours both are full hours. A date of the year is a month and a day that exist.",
    ),
    "V242": error(
        "bad validity of a task",
        "`valid_from` and `valid_to` are dates that exist; both days are included.",
    ),
    "N316": error(
        "unknown task",
        "`depends_on` names a task of this app, or one of another app as app/name. The other app is in the"
        " files or in the store.",
    ),
    "N317": error(
        "task name taken",
        "The schedules and tasks of an app share one set of names, and `self` means the task's own previous"
        " instance.",
    ),
    "L440": error(
        "key that the task does not have",
        "A source or external task launches nothing and has no program, the timeout of a task counts from"
        " its start time, and only a source with `update: outside` collects events. The business dates of"
        " tasks of hours and minutes are not days.",
    ),
    "L441": error(
        "update does not fit",
        "A source is updated periodic or outside, a program full, partition or merge, which must be how its"
        " outputs are written. The outputs of an acceleration are not appended to, because a rerun would"
        " append the rows again.",
    ),
    "L442": error(
        "cycle of tasks",
        "The instances of these tasks would wait for each other. A cycle among some instances is refused too:"
        " an hour's instance that waits for the minutes of its hour, which wait for that hour. `self` and"
        " `period: previous` pick earlier instances; a cycle through them is refused if instances wait for"
        " each other on some kind of day, or in a backfill.",
    ),
    "L443": error(
        "option of self",
        "`self` is the task's own previous instance, so nothing is left to select.",
    ),
    "L444": warning("upstream task twice", "The second one has no effect. Delete it."),
    "L445": warning(
        "weeks that are written too early or too late",
        "The business date of an instance is the day before it. So a task that writes whole weeks runs on the"
        " day on which they begin: then the week that has ended is written.",
    ),
    "L446": warning(
        "source that its data does not report",
        "An event of a dataset reports the instance of its source with `update: outside` whose business date"
        " its key is. That needs one cycle for both; any other source is reported by people alone.",
    ),
    "L447": warning(
        "task without an upstream task for what it reads",
        "A task waits for other tasks, not for data. Where a schedule writes what its program reads, or it"
        " lands from outside, the task runs at its start time whether the data is there or not.",
    ),
}
