"""The diagnostics of names (N3xx), and of what the settings and the world around an app have.

The codes of templates and their rows (R13x), which are read with a file, too.

The codes of what the settings and the world around an app have: channels, folders, deadlines, house rules.
The rules of a project, `[lint.rules]`, have the severity that the settings give them; here is the one
without any.
"""

from tidegate.compiler.diagnostics.entry import Entry, error, note, warning

NAME_CODES: dict[str, Entry] = {
    "N301": error("unknown dataset", "The dataset is not declared in this app, or in the app that is named."),
    "N302": error("unknown program", "The program is not declared in this app, or in the app that is named."),
    "N303": error("unknown group", "An app that declares groups may use only these."),
    "N304": error("app name taken", "Two files declare an app of the same name."),
    "N305": error("unknown schedule", "The schedule is not declared in this app."),
    "N306": error("example name taken", "Two examples of an app have the same name."),
    "N307": error("unknown calendar", "The calendar is not declared in this app."),
    "N308": error("unknown reference", "An argument refers to a value that does not exist."),
    "N309": error(
        "part of another app",
        "An app may wait for another app's datasets and runs and read its datasets; it writes and launches"
        " only its own.",
    ),
    "N310": error(
        "no such module",
        "`run` or `incremental` names a module that does not exist in the project's folder or among the"
        " installed packages. `plan`, `deploy`, `dev` and `lint --imports` check it.",
    ),
    "N311": error(
        "no such function",
        "The module exists and has no such function. A program is a function run(spark, inputs, params); a"
        " source has the functions newest and read.",
    ),
    "N312": error(
        "wrong signature",
        "The function cannot be called with the arguments of a run, by position.",
    ),
    "N313": warning(
        "module fails to import",
        "The module exists, and its import fails on this machine. The machine of the runs may have what this"
        " one lacks.",
    ),
    "N314": error(
        "ambiguous upstream run",
        "The trigger waits for runs of several programs, and the one that ends last is not always the same."
        " Name a member with `as: NAME` and write {{ trigger.NAME.run.args.day }}.",
    ),
    "N315": error("member name taken", "Two members of one trigger have the same name."),
    "N320": error(
        "app in another namespace",
        "A name such as analytics/feeds/raw has the namespace of the app: `namespace` below [project] in the"
        " tidegate.toml of its project. It may be left out, since names of apps are unique in a store.",
    ),
    "N330": warning(
        "argument that reaches no run",
        "A job of another location gets no arguments: what of them is in its run config, `config` names as"
        " {{ args.NAME }}.",
    ),
    "N331": error(
        "asset of two datasets",
        "The materialisations of an asset are the events of one dataset of the store. A dataset without"
        " `asset` has the asset app/name.",
    ),
    "N332": error(
        "no such job",
        "`job` names a job of a loaded code location, that of `location` or the only one that has it. `plan`,"
        " `deploy` and `lint` check it with `--locations`.",
    ),
    "N333": error(
        "job of two locations",
        "Two loaded code locations have the job, and the program does not say which of the two it is.",
    ),
    "N334": error(
        "no such asset",
        "`assets` names assets of a loaded code location that its code makes; a key with `*` may match none.",
    ),
    "N335": error(
        "selection without assets",
        "The selection of `assets` matches no asset of the loaded code locations, or Dagster cannot read it."
        " `and` selects what both sides have.",
    ),
    "N336": error(
        "other partitions",
        "A run of the program has a partition of what it writes, or of its own `partitions`. The job must"
        " have it too: with the same cycle, timezone and dimensions, from the same start or an earlier one.",
    ),
    "N350": error(
        "former name in use",
        "`renamed_from` says which part or app goes on under the new name, with its watermarks, "
        "its waiting jobs and its events. So nothing else may have the former name, and only one part may "
        "claim it.",
    ),
}


DATASET_CODES: dict[str, Entry] = {
    "V260": error(
        "tag that a program cannot set",
        "The tags of a run that say its job, its partition, its priority and its retries follow from the"
        " schedule: `tidegate/…`, and `dagster/…` and `.dagster/…` but for `dagster/max_runtime`,"
        " `dagster/isolation`, `dagster/concurrency_key` and `dagster/image`.",
    ),
    "V263": error(
        "key of a dataset that Tidegate writes",
        "A dataset with `asset` is an asset that another location writes, so it has no `format`, `write`,"
        " `merge_keys`, `on_foreign`, `checks`, `on_new_column` or `watch`. Its `path` is the folder of its"
        " Parquet files, if Spark programs read them.",
    ),
    "V270": error(
        "not a type of Spark",
        "A column of `columns` has a type by Spark's name: boolean, tinyint, smallint, int, bigint, float,"
        " double, decimal(DIGITS,SCALE), string, binary, date, timestamp, timestamp_ntz, array<TYPE>,"
        " map<KEY,VALUE> or struct<NAME:TYPE,…>.",
    ),
    "V271": error(
        "column that does not fit",
        "The names of `columns` differ in more than case, and none is reserved by Spark or Iceberg. A"
        " partition column is a string with the keys of its dimension. Merge keys, and what checks read, are"
        " declared columns or partition columns.",
    ),
    "V275": error(
        "bounds that nothing is within",
        "The `min` of a check of rows, or of a range, is at most its `max`; both are inclusive.",
    ),
    "V276": error(
        "two checks of one name",
        "The checks of a dataset have different names. One without `name` has that of its kind and columns.",
    ),
    "V277": error(
        "check that does not fit",
        "A check compares a declared column with values of its type: a pattern with a text, bounds with"
        " numbers or, as texts, with texts and dates. A reference has one column under `to` for each under"
        " `columns`."
        " A query has no parameters but those of every run.",
    ),
    "L438": error(
        "reference to a dataset that is not read",
        "A `reference` looks at another dataset, so each program that writes the rows has it under `reads`:"
        " a run reads what it declares, and nothing else.",
    ),
    "L439": error(
        "checks of what Tidegate does not write",
        "Checks judge the rows of a run before any reader sees them. Landed files are seen at once, and so is"
        " what a job of another code location writes.",
    ),
    "L436": error(
        "asset that Spark cannot use",
        "A Spark program reads a dataset with `asset` only by its `path`, as landed files, and never writes"
        " it: its own code does.",
    ),
    "L437": error(
        "no checks to wait for",
        "`checks: passed` waits for the asset checks of a dataset with `asset`, whose own code publishes"
        " before they have passed. The `checks` of any other dataset are judged before there is an event.",
    ),
    "V261": error(
        "config that the job refuses",
        "The run config is judged by the schema that the loaded code location has of the job. A value with a"
        " reference may be of any type, and its entry must be allowed.",
    ),
    "N319": error(
        "unknown channel",
        "`alerts` of an app, a dataset, a schedule or a task names channels of `tidegate.toml`, of"
        " `[alerts.channels]` there or in an environment. An alert for another one is not sent.",
    ),
    "N321": error(
        "unknown cluster",
        "`cluster` of a program names a section `[spark.clusters.NAME]` of `tidegate.toml`, there or in an"
        " environment. A program without it runs on `[spark]`.",
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
    "L480": note(
        "location that was not loaded",
        "`--locations` compares programs that exist in Dagster with the loaded code locations. What is not"
        " loaded here is not compared; with `--require-locations` that is an error.",
    ),
    "L481": warning(
        "several partitions in a run of one",
        "A job of the schedule may collect several partitions. One run of a job that exists in Dagster has"
        " neighbouring partitions only where each of its assets has `BackfillPolicy.single_run()`; any other"
        " launch of several is a dead letter (`F-LAUNCH`).",
    ),
}


REPAIR_CODES: dict[str, Entry] = {
    "L490": error(
        "cannot be repaired",
        "A repair sees the events of the job before it and replaces its result. So the schedule has"
        " `for_each`, one job has all events of a key, the outputs are not written by `append`, and the"
        " program reads nothing incrementally.",
    ),
    "L491": warning(
        "a late part is launched alone",
        "After a `wait_at_most` a job is launched with what has come. What comes later is new data: the next"
        " job has the late part alone, and its run overwrites the partition with it.",
    ),
    "L492": warning(
        "repaired, and read incrementally",
        "A program that reads incrementally reads what is new once. Rows that a repair replaces are read"
        " again or not at all, as its source says.",
    ),
    "L493": error(
        "repaired longer than jobs are kept",
        "A repair reads the events of the job before it, so `within` is at most `finished_jobs` of"
        " `[retention]` in tidegate.toml.",
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

TEMPLATE_CODES: dict[str, Entry] = {
    "R130": error(
        "unknown placeholder",
        "`${each.NAME}` in a template is the value that a row of its `for` has under this name. The name is "
        "that of a list below `for`, or of a column of the file of rows.",
    ),
    "R131": error(
        "two parts of one name",
        "The parts of one kind have different names in an app, whether the file has them or a template "
        "makes them. Two rows that make the same name would be one part, and it would not be clear which.",
    ),
    "R132": error(
        "file of rows cannot be used",
        "`rows` names a file inside the project: a CSV file (RFC 4180, UTF-8) with a header line, or a YAML "
        "file with a list of flat mappings. It is looked for beside the file that names it, then in the "
        "project's folder. A specification that is sent over REST has no files.",
    ),
    "R133": error(
        "no rows or too many",
        "A template has from 1 to 100,000 rows. Of several lists they are the product.",
    ),
    "R134": error(
        "bad value of a row",
        "A value is a text of at most 1,000 characters without line ends and invisible characters. A number "
        "is the text that is written. Null, lists and mappings are refused.",
    ),
    "R135": error(
        "placeholder outside a template",
        "Only the parts of a template have rows, so only they have placeholders: not the rest of the file, "
        "the `for` of a template or `defaults`.",
    ),
}
