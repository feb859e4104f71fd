"""The diagnostics of names that refer to something: N3xx; part of the catalogue."""

from tidegate.compiler.diagnostics.entry import Entry, error, warning

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
    "N350": error(
        "former name in use",
        "`renamed_from` says which part or app goes on under the new name, with its watermarks, "
        "its waiting jobs and its events. So nothing else may have the former name, and only one part may "
        "claim it.",
    ),
}
