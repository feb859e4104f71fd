"""*Commits*: the commit sequences that dead runs left unfinished, and what is done about each.

And those that failed checks withhold, until a person releases or abandons them.
"""

from tidegate.domain.value import Value
from tidegate.listings.listing import Column, Filter, Instant, Listing


class UnfinishedCommit(Value, kw_only=True):
    """A commit sequence that is not finished, or is withheld.

    Attributes:
        commit: its id.
        token: its fencing token: a later sequence has a larger one; null where it cannot be read.
        steps: how many it has; null where it cannot be read, and of a withheld one.
        readable: false for a sequence of another version of Tidegate.
        state: in some words, who finishes it, or for what it waits; of a withheld one "WITHHELD since", with
            the checks that have failed.
        owner: the process that finishes it; "" for none.
        until: until when the owner has to prolong that.
        failures: failed tries.
        blocked: it has failed so often that only a person, or a run that writes its datasets, tries again.
        datasets: that it writes, "app/name"; empty where it cannot be read.
        abandoned: datasets that a person took out of it.
        error: the message of the last failure.
        failed_at: when the last try failed.
        withheld_since: since when failed checks withhold it; null for one that is unfinished.
        checks: the names of the checks that withhold it.
    """

    commit: str
    token: int | None
    steps: int | None
    readable: bool
    state: str
    owner: str
    until: Instant | None
    failures: int
    blocked: bool
    datasets: tuple[str, ...]
    abandoned: tuple[str, ...]
    error: str
    failed_at: Instant | None
    withheld_since: Instant | None = None
    checks: tuple[str, ...] = ()


COMMITS = Listing(
    name="commits",
    title="Commits",
    help="List unfinished and withheld commit sequences, oldest first; those that cannot be read come last.",
    item=UnfinishedCommit,
    query="tidegate.listings.queries.commits:list_commits",
    filters=(
        Filter("app", "app", "Only those that write a dataset of this app."),
        Filter("dataset", "dataset", 'Only those that write this "app/dataset".', gone=True),
        Filter("withheld", "flag", "Only those that failed checks withhold, or only the others."),
    ),
    columns=(
        Column("commit", "commit", 1),
        Column("token", "number", 1),
        Column("steps", "number", 1),
        Column("state", "text", 1),
        Column("failed_at", "instant", 1, "last try"),
        Column("datasets", "list", 1),
        Column("abandoned", "list"),
        Column("error", "text", 2, "last error"),
        Column("owner", "text", 3),
        Column("until", "instant", 3),
    ),
    order=("-readable", "token", "commit"),
)
