"""The diagnostics of SQL programs: of their queries (Q1xx), in the `.sql` file, and of their YAML."""

from tidegate.compiler.diagnostics.entry import Entry, error, warning

SQL_CODES: dict[str, Entry] = {
    "V262": error(
        "arg that a query cannot have",
        "An arg of an SQL program is bound as the parameter `:NAME`. It must not have the name of a parameter"
        " that every run has, and is a text, a number, true, false, null or a list of such: no mapping.",
    ),
    "V264": error(
        "queries and outputs differ",
        "`sql: FILE` makes the rows of a single output; with several, `sql` is a mapping with a file for each"
        " dataset under `writes`, and for no other.",
    ),
    "Q101": error(
        "missing or empty file",
        "`sql` names a file of the project that holds a query: UTF-8, at most 256 KiB, inside the folder of"
        " the project.",
    ),
    "Q102": error(
        "not SQL",
        "The query does not parse as Spark SQL at this place. Some of what Spark refuses is accepted here:"
        " then the run fails with Spark's text.",
    ),
    "Q103": error("not one query", "A file holds one query. Several outputs have a file each."),
    "Q104": error(
        "not a query",
        "Spark carries out a statement as soon as it sees it, so only a query is allowed: SELECT, WITH,"
        " VALUES, TABLE, or FROM … SELECT.",
    ),
    "Q105": error(
        "unknown table",
        "The tables of a query are the datasets under `reads`, and the earlier outputs of its program, in"
        " any case. A dataset of another app is written in backticks: `feeds/raw`.",
    ),
    "Q106": warning(
        "read that is not used",
        "A dataset under `reads` is in none of the queries. The run fails while it has no data.",
    ),
    "Q107": error(
        "unknown parameter",
        "`:NAME` is an arg of a schedule or task that launches the program, or one that every run has.",
    ),
    "Q108": error(
        "parameter without value",
        "Another schedule of the program gives the parameter of a query, and this one does not.",
    ),
    "Q109": error(
        "refused function or read",
        "A query reads its tables and makes rows, and nothing else: no names of several parts, no IDENTIFIER,"
        " no function that runs code or tells where files are, no command. A list is for array_contains, not"
        " for IN.",
    ),
    "Q110": error(
        "hidden name",
        "A CTE with the name of a table would hide it; an earlier output is a table of the later queries, so"
        " it is not among the reads too.",
    ),
}

SQL_REMEDIES: dict[str, str] = {
    "V262": "Rename the arg, or give the members of the mapping as args of their own.",
    "V264": "Write a file for each output, and an output for each file.",
    "Q101": "Write the file, or correct the path, which begins at the folder of the project.",
    "Q102": "Correct the query at this place.",
    "Q103": "Keep one query; give further outputs files of their own.",
    "Q104": "Write the SELECT alone: Tidegate writes its rows to the output.",
    "Q105": "Correct the name, or add the dataset to `reads`.",
    "Q106": "Delete it from `reads`, or use it.",
    "Q107": "Correct the name, or add it to `args` of the schedule.",
    "Q108": "Add it to `args` of the schedule; `null` where it has no value.",
    "Q109": "Name datasets under `reads`, and compute the rest with functions of rows.",
    "Q110": "Give the CTE another name, or take the dataset out of `reads`.",
}
