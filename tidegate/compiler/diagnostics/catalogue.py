"""The catalogue of diagnostics: the severity, the title and the explanation of each code.

R: reading the file. S: structure. V: values. N: names. Q: queries. L: rules between parts. T: settings. Codes
are never reused.
`docs/diagnostics.md` is rendered from this catalogue (`project.rendered_pages`), and each
code has a golden file under tests/golden.
"""

from tidegate.compiler.diagnostics.entry import Entry, Severity, error, note, warning
from tidegate.compiler.diagnostics.sql_codes import SQL_CODES
from tidegate.compiler.diagnostics.surrounding_codes import (
    DATASET_CODES,
    HOUSE_CODES,
    NAME_CODES,
    REPAIR_CODES,
    TEMPLATE_CODES,
)
from tidegate.compiler.diagnostics.task_codes import MAINTENANCE_CODES, TASK_CODES

__all__ = ["CATALOGUE", "Entry", "Severity"]

CATALOGUE: dict[str, Entry] = {
    "R101": error("file too large", "A file has at most 1 MiB. One file is one app: split it."),
    "R102": error("not UTF-8", "The file's bytes are not UTF-8 text. Save it as UTF-8."),
    "R103": error(
        "control character",
        "Control characters such as NUL have no meaning in YAML and hide parts of the text. Delete them.",
    ),
    "R104": error(
        "invisible character",
        "With zero-width, bidirectional and unusual space characters, two different names look equal.",
    ),
    "R105": error(
        "tab",
        "YAML forbids tabs in indentation, and elsewhere they look like spaces. Use spaces.",
    ),
    "R106": error("not YAML", "The parser cannot read the file at this place."),
    "R107": error("nested too deep", "Lists and mappings nest at most 64 deep."),
    "R108": error(
        "too many values",
        "A file holds at most 100,000 values, keys included, and its templates and defaults make at most "
        "1,000,000.",
    ),
    "R109": error(
        "anchor or alias",
        "A file must be readable from top to bottom. Write the value out in each place.",
    ),
    "R110": error(
        "merge key",
        "`<<` is YAML 1.1, and parsers disagree on it. Write the keys out.",
    ),
    "R111": error(
        "duplicate key",
        "Parsers silently keep one of two equal keys. Delete or rename the other.",
    ),
    "R112": error(
        "key is not a short string",
        "Keys are names: strings of at most 200 characters.",
    ),
    "R113": error(
        "tag",
        "Tags change the type of a value. Quote the value instead.",
    ),
    "R114": error(
        "more than one document",
        "One file is one app: one document, without directives.",
    ),
    "R115": error("not a mapping", "A file holds one mapping that begins with `app:`."),
    "R116": error("cannot be read", "The file or folder does not exist, or may not be read."),
    "R117": error(
        "number too long",
        "Integers have at most 18 digits, so that they survive JSON and databases.",
    ),
    "R118": error("not a finite number", "`.inf` and `.nan` cannot be written in JSON."),
    "R119": error("more diagnostics", "At most 100 diagnostics of a file are shown."),
    "R120": error(
        "variable that is not set",
        "`${env.NAME}` in a value is replaced by the variable of the process, or by its value in "
        "`[project.variables]` of `tidegate.toml`, when the file is read.",
    ),
    "R121": error(
        "secret in the YAML",
        "What a file says is kept in the store and shown by `plan`, so it refers to no variable whose name "
        "says that it is a secret. A program reads secrets from its own environment.",
    ),
    "R122": error(
        "reference that cannot be replaced",
        "References are `${env.NAME}`, in values and never in keys. `$${env.NAME}` is the text itself. "
        "Placeholders of templates, `${each.NAME}`, are written alike.",
    ),
    **TEMPLATE_CODES,
    "S101": error(
        "unknown key",
        "The language has no such key at this place; most often it is a typing error.",
    ),
    "S102": error(
        "not supported",
        "The key is reserved for a later version.",
    ),
    "S103": error("missing key", "A required key is absent."),
    "S104": error("wrong type", "The value has another type than the key requires."),
    "S105": error("not an allowed value", "The key accepts only the listed words."),
    "S106": error("malformed text", "The text does not have the format that the key requires."),
    "S107": error("number out of range", "The number is outside the limits of the key."),
    "S108": error(
        "wrong number of members",
        "A list or mapping has too few, too many or equal members.",
    ),
    "S109": error("no kind given", "A trigger or constraint has one key that names its kind."),
    "S110": error(
        "more than one kind",
        "A trigger or constraint has one kind. Combine several in a list.",
    ),
    "S111": error("option without its kind", "The option is allowed only beside its kind."),
    "S112": error("text too long or empty", "The text is longer than its limit, or empty."),
    "S199": error(
        "part left out without an error",
        "A dataset, program, schedule, task, policy, calendar or example of the file is not in the app that"
        " was built, and no other error says why. A deployment would delete it.",
    ),
    "V201": error(
        "bad duration",
        "Durations are from 0.1 seconds to 366 days, in one unit or in ISO 8601.",
    ),
    "V202": error(
        "unknown time zone",
        "Zones are names of the IANA database, not abbreviations or offsets.",
    ),
    "V203": error(
        "bad cron expression",
        "A cron has five fields, or is an alias such as @daily, and matches at least one date.",
    ),
    "V204": error(
        "empty window",
        "A window is [from, to) and is empty if from = to. With a calendar, at least one of its days must be"
        " a business day.",
    ),
    "V205": error("bad partition key", "The key does not belong to the partitions of the dataset."),
    "V206": error(
        "bad partition scheme",
        "A scheme has at most one time dimension and one dimension with a list of keys.",
    ),
    "V207": error("unsafe path", "Paths are relative to the project and stay inside it."),
    "V208": error(
        "ways of counting clash",
        "`count`, `keys` and `complete` exclude each other; choose one.",
    ),
    "V209": warning("option without effect", "The option has no effect beside the others. Delete it."),
    "V210": error(
        "bad instant",
        "Instants of an example are ISO 8601 or +duration, from its `start` to its `until`.",
    ),
    "V211": error(
        "quiet bounds clash",
        "A `quiet` that is longer than `quiet_at_most` or `collect_within` has no effect, or never ends.",
    ),
    "V212": error("not enough members", "`at_least` requires at most as many members as it has."),
    "V213": error(
        "bad size",
        "Sizes are whole numbers of bytes, or with KB, MB, GB, TB, KiB, MiB, GiB or TiB.",
    ),
    "V214": error(
        "bad calendar",
        "A calendar names a known country or market, or neither, and has at least one business day.",
    ),
    "V215": error(
        "bad template",
        "`{{` and `}}` in an argument enclose the name of one reference, and nothing else.",
    ),
    "V216": error(
        "write mode does not fit",
        "`merge` needs `merge_keys`, `overwrite_partitions` needs `partitions`, and an Iceberg table has no"
        " `path`.",
    ),
    "V217": error(
        "name of a value",
        "A member of a trigger is not named like a value of every trigger, since a reference such as"
        " {{ trigger.count }} could not tell them apart.",
    ),
    "V220": error(
        "Spark property that a program cannot set",
        "Tables rely on some properties of Spark, and others are those of the whole project.",
    ),
    "V230": warning(
        "start within a period",
        "`start` is the first partition key. Where no period begins at it, the first partition is the period"
        " after it.",
    ),
    "V231": warning(
        "member twice",
        "Equal members of a composite hold together: the second one has no effect, or counts twice in"
        " `at_least`.",
    ),
    "L401": error(
        "cycle of schedules",
        "Runs of these schedules would trigger each other without end. Add a cron to one of them with `all`.",
    ),
    "L402": error(
        "member without a key",
        "With `for_each` every member of the trigger must have a key, except a cron inside `all`.",
    ),
    "L403": error(
        "period cannot be completed",
        "`complete` needs a time dimension whose partitions make up the period.",
    ),
    "L404": error(
        "output partition does not fit",
        "The outputs do not have the partitions that `output_partition` or the cycle of a task means, or"
        " their zone is so far behind that the day which a run writes has not begun there.",
    ),
    "L405": warning(
        "two writers",
        "Two programs write the same dataset; the later run overwrites the earlier. The first of them by name"
        " owns it: in Dagster the dataset is an asset of that program.",
    ),
    "L406": warning(
        "may wait without end",
        "A job that lacks events has no timeout. Add `wait_at_most`, or a timeout from the first event.",
    ),
    "L407": error(
        "dataset without partitions",
        "Keys and counts above one need a dataset that is partitioned.",
    ),
    "L408": error(
        "keys that never match",
        "The datasets of the members have no common partition keys for `for_each`.",
    ),
    "L409": error("trigger nested too deep", "Composites nest at most 8 deep."),
    "L410": error(
        "batch too small",
        "`max_batch` limits the events of a job; it must allow as many as the trigger needs.",
    ),
    "L411": error(
        "reference without a source",
        "An argument refers to a value that no job of the schedule has: its trigger lacks the member.",
    ),
    "L412": warning(
        "argument without a source",
        "The upstream schedules have no such argument; it is null unless the run is started with it.",
    ),
    "L413": warning(
        "wait beyond the default timeout",
        "A window that stays closed for longer, or a constraint that can hold a business date for longer,"
        " lets the default timeout discard the job.",
    ),
    "L414": error(
        "new data cannot be found",
        "Incremental reading needs landed files, an Iceberg table that is only appended to, or a source"
        " module.",
    ),
    "L415": error(
        "output does not keep its rows",
        "Incremental data is read once, so the outputs must keep existing rows: append or merge.",
    ),
    "L416": error(
        "partition that several runs would read",
        "One run reads the new data of a partition, so each partition of the source must be within a single"
        " partition of each output: otherwise the first run would also read the rows of the other runs.",
    ),
    "L417": error(
        "no partition to write",
        "The outputs have partitions, and nothing says which of them a run writes; it could not be launched."
        " With `business_day` they need one for each day, and a calendar with business days in every week.",
    ),
    "L418": warning(
        "reads what it replaces",
        "A run that reads what it overwrites or merges fails if another run has written it meanwhile. With"
        " `concurrency: {max: 1}` such runs wait for each other.",
    ),
    "L430": error(
        "weeks begin on different days",
        "A run that writes a week reads the same week of its inputs, so their weeks must begin on the same"
        " day.",
    ),
    "L431": error(
        "never launched",
        "In no year a job of this schedule can be launched: its windows are never open together, each fire of"
        " its crons is outside them, or `otherwise: skip` discards each job.",
    ),
    "L432": warning(
        "hardly ever launched",
        "A job is launched only if something else delays it, or by its timeout; otherwise a constraint"
        " discards it.",
    ),
    "L433": error(
        "timeout before the wait ends",
        "The timeout discards a job before its `delay`, `quiet` or `wait_at_most` ends.",
    ),
    "L434": warning(
        "different limits of a group",
        "Each schedule compares the active runs of a group with its own `max`, and maintenance with that of"
        " `auto_pools`, which should not be above it.",
    ),
    "L435": warning(
        "unused program",
        "No schedule runs the program, and no trigger waits for its runs.",
    ),
    "L420": note(
        "affected by a clock change",
        "On these dates the time is skipped or repeated. The file is correct; this note only announces it.",
    ),
    "L423": warning(
        "business day that is never written",
        "The business date is the day before the fire. A cron of some days of the week, or of a calendar,"
        " that does not fire on the day after a business day never writes that day: a cron of Monday to"
        " Friday never writes Friday.",
    ),
    "L424": note(
        "either day field",
        "A cron with a list or range in both day fields fires on days that match either, as in Vixie cron. If"
        " one of them begins with `*`, such as `*/2`, both must match.",
    ),
    "L425": warning(
        "caught up with, and discarded",
        "After a downtime the jobs of all missed fires are ready together. With `otherwise: skip` a"
        " constraint that counts runs discards all that find no place, so `catch_up: all` catches up with a"
        " few only.",
    ),
    "L460": note(
        "keeps its format",
        "A dataset without `format` keeps the format with which it is deployed, because its rows are in that"
        " format. Another default, or an Iceberg runtime that was installed since, does not change it.",
    ),
    "L450": warning(
        "collects nothing that exists",
        "`collect_existing` lets a new or reset schedule collect the partitions of its datasets that arrived "
        "before. A cron, a run or an elapsed time has none: delete the option, or move it to the trigger "
        "that counts the dataset.",
    ),
    "T501": warning(
        "secret in the settings",
        "`tidegate.toml` is in git. Write a reference such as `${env.STORE_PASSWORD}`, and give the variable "
        "to the processes.",
    ),
    **NAME_CODES,
    **SQL_CODES,
    **HOUSE_CODES,
    **DATASET_CODES,
    **REPAIR_CODES,
    **TASK_CODES,
    **MAINTENANCE_CODES,
}
