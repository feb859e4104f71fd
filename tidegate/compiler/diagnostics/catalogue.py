"""Every code that a diagnostic can have: its severity, its title, and what the rule is for.

R: reading the file. S: the shape of what was read. V: values. N: names. L: what schedules
mean together. Codes are never reused. `docs/diagnostics.md` is rendered from this catalogue
(`compiler.render.catalogue_markdown`), and each code has a golden file under tests/golden.
"""

from typing import Literal

from tidegate.domain.value import Value

Severity = Literal["error", "warning", "note"]


class Entry(Value, kw_only=True):
    """One code.

    Attributes:
        title: the rule in a few words.
        explanation: why there is such a rule, and what to do.
    """

    title: str
    explanation: str
    severity: Severity = "error"


def _error(title: str, explanation: str) -> Entry:
    return Entry(title=title, explanation=explanation)


def _warning(title: str, explanation: str) -> Entry:
    return Entry(title=title, explanation=explanation, severity="warning")


def _note(title: str, explanation: str) -> Entry:
    return Entry(title=title, explanation=explanation, severity="note")


CATALOGUE: dict[str, Entry] = {
    "R101": _error("file too large", "A file has at most 1 MiB. One file is one app: split it."),
    "R102": _error("not UTF-8", "The file's bytes are not UTF-8 text. Save it as UTF-8."),
    "R103": _error(
        "control character",
        "NUL and its like have no meaning in YAML and hide what is there.",
    ),
    "R104": _error(
        "invisible character",
        "Zero-width, bidirectional and odd space characters make two names look equal that are not.",
    ),
    "R105": _error(
        "tab",
        "YAML forbids tabs in indentation, and elsewhere they look like spaces.",
    ),
    "R106": _error("not YAML", "The parser could not make sense of the file at this place."),
    "R107": _error("nested too deep", "Lists and mappings nest at most 64 deep."),
    "R108": _error("too many values", "A file holds at most 100,000 values, keys included."),
    "R109": _error(
        "anchor or alias",
        "Anchors and aliases make a file that cannot be read from top to bottom.",
    ),
    "R110": _error(
        "merge key",
        "`<<` is YAML 1.1, and editors and parsers disagree on it. Write the keys out.",
    ),
    "R111": _error(
        "duplicate key",
        "Of two equal keys parsers silently take one. Delete or rename the other.",
    ),
    "R112": _error(
        "key is not a short string",
        "Keys are names: strings of at most 200 characters.",
    ),
    "R113": _error(
        "tag",
        "Tags change the type of a value behind the reader's back. Quote a value instead.",
    ),
    "R114": _error(
        "more than one document",
        "One file is one app: one document, without directives.",
    ),
    "R115": _error("not a mapping", "A file holds one mapping that begins with `app:`."),
    "R116": _error("cannot be read", "The file or folder does not exist, or may not be read."),
    "R117": _error(
        "number too long",
        "Integers have at most 18 digits, so that they survive JSON and databases.",
    ),
    "R118": _error("not a finite number", "`.inf` and `.nan` have no form in JSON."),
    "R119": _error("more diagnostics", "At most 100 diagnostics of a file are shown."),
    "S101": _error(
        "unknown key",
        "The key is not part of the language at this place, most often a slip.",
    ),
    "S102": _error(
        "not supported",
        "The key belongs to the language but this version does not know it yet.",
    ),
    "S103": _error("missing key", "A key without which the rest has no meaning is absent."),
    "S104": _error("wrong type", "The value is of another kind than the key asks for."),
    "S105": _error("not an allowed value", "The key takes one of a few words."),
    "S106": _error("malformed text", "The text is not of the form that the key asks for."),
    "S107": _error("number out of range", "The number is outside the limits of the key."),
    "S108": _error(
        "wrong number of members",
        "A list or mapping has too few, too many or equal members.",
    ),
    "S109": _error("no kind given", "A trigger or constraint names its kind by one key."),
    "S110": _error(
        "more than one kind",
        "A trigger or constraint is of one kind. Combine several in a list.",
    ),
    "S111": _error("option without its kind", "The option belongs beside its kind."),
    "S112": _error("text too long or empty", "The text is longer than its limit, or empty."),
    "V201": _error(
        "bad duration",
        "Durations are from 0.1 seconds to 366 days, in one unit or in ISO 8601.",
    ),
    "V202": _error(
        "unknown time zone",
        "Zones are names of the IANA database, not abbreviations or offsets.",
    ),
    "V203": _error(
        "bad cron expression",
        "Five fields, or @daily and its like, that can ever fire.",
    ),
    "V204": _error(
        "empty window",
        "A window is [from, to): with from = to it would never, or always, be open. It opens on business"
        " days of its calendar, if it has one.",
    ),
    "V205": _error("bad partition key", "The key does not belong to the partitions of the dataset."),
    "V206": _error(
        "bad partition scheme",
        "At most one dimension of time and one with a list of keys.",
    ),
    "V207": _error("unsafe path", "Paths are relative to the project and stay inside it."),
    "V208": _error(
        "ways of counting clash",
        "`count`, `keys` and `complete` are three ways; choose one.",
    ),
    "V209": _warning("option without effect", "The option says nothing beside the others. Delete it."),
    "V210": _error(
        "bad instant",
        "Instants of an example are ISO 8601 or +duration, from its `start` to its `until`.",
    ),
    "V211": _error(
        "quiet bounds clash",
        "`quiet_at_most` bounds how long `quiet` may hold back, so it is not the shorter one.",
    ),
    "V212": _error("more than there are", "`at_least` asks for at most as many members as it has."),
    "V213": _error(
        "bad size",
        "Sizes are whole numbers of bytes, or with KB, MB, GB, TB, KiB, MiB, GiB or TiB.",
    ),
    "V214": _error(
        "bad calendar",
        "A calendar follows a country or a market that is known, or neither, and leaves business days.",
    ),
    "V215": _error(
        "bad template",
        "`{{` and `}}` in an argument hold the name of one reference, and nothing else.",
    ),
    "V216": _error(
        "write mode does not fit",
        "Merging needs its keys, overwriting partitions needs some, and an Iceberg table has no path.",
    ),
    "N301": _error("unknown dataset", "The dataset is not declared in this app."),
    "N302": _error("unknown program", "The program is not declared in this app."),
    "N303": _error("unknown group", "An app that declares groups uses only those."),
    "N304": _error("app name taken", "Two files declare an app of the same name."),
    "N305": _error("unknown schedule", "The schedule is not declared in this app."),
    "N306": _error("example name taken", "Two examples of an app have the same name."),
    "N307": _error("unknown calendar", "The calendar is not declared in this app."),
    "N308": _error("unknown reference", "An argument refers to a value that no run has."),
    "L401": _error(
        "cycle of schedules",
        "Each run of one schedule would trigger the next, without end. A cron that must fire too breaks it.",
    ),
    "L402": _error(
        "member without a key",
        "With `for_each` every member of the trigger must have a key, except a cron inside `all`.",
    ),
    "L403": _error(
        "period cannot be completed",
        "`complete` needs a dimension of time whose parts make up the period.",
    ),
    "L404": _error("outputs cannot take it", "The outputs have no partitions of that kind."),
    "L405": _warning(
        "two writers",
        "Two programs write the same dataset; the later run overwrites the earlier.",
    ),
    "L406": _warning(
        "may wait without end",
        "A half-collected job does not age. `wait_at_most`, or a timeout from the first event, bounds it.",
    ),
    "L407": _error(
        "dataset without partitions",
        "Keys and counts above one need a dataset that is partitioned.",
    ),
    "L408": _error(
        "keys that never meet",
        "The members' datasets have no partitions in common for `for_each`.",
    ),
    "L409": _error("trigger nested too deep", "Composites nest at most 8 deep."),
    "L410": _error(
        "batch too small",
        "`max_batch` closes a job that has so many events; it must hold what the trigger needs.",
    ),
    "L411": _error(
        "reference without a source",
        "An argument refers to a value that no job of the schedule can have: its trigger lacks the member.",
    ),
    "L412": _warning(
        "argument without a source",
        "The upstream schedules have no such argument; it is null unless the run is started with it.",
    ),
    "L413": _warning(
        "window closed beyond the default timeout",
        "A job that becomes ready meanwhile is discarded before it opens, although no timeout is written.",
    ),
    "L414": _error(
        "cannot tell what is new",
        "Incremental reading needs files that were landed, an Iceberg table whose rows are only added, or a"
        " source of one's own.",
    ),
    "L415": _error(
        "output that forgets",
        "What is read incrementally comes once, so the outputs must keep what they have: append or merge.",
    ),
    "L416": _error(
        "partition that several runs would read",
        "What is new of a partition is read by one run, so each partition of the source must lie in a single"
        " one of the outputs: else the first run would take the rows of the others.",
    ),
    "L420": _note(
        "touched by a change of the clocks",
        "On these dates the time is skipped or comes twice. This is an advance notice; nothing is wrong.",
    ),
}
