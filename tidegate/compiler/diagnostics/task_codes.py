"""The diagnostics that are about cycle tasks alone; part of the catalogue."""

from tidegate.compiler.diagnostics.entry import Entry, error, warning

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
