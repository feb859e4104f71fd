"""The log of our publishes into an Iceberg table, stored in one property of the table itself.

The property changes in the same metadata commit as the rows, so the two cannot disagree,
and it outlives the snapshots: expiring them or rewriting files removes no evidence. Its size
is limited; for older publishes the answer is "unknown", never "no". This module has only pure values.
"""

import msgspec

from tidegate.domain.value import Value

PROPERTY = "tidegate.publishes"
RECENT_PUBLISHES = 200
"""Maximum number of publishes in the log. Each publish writes the whole property again."""
KEYS_LENGTH = 600
"""Maximum characters of partition keys that the log keeps for one publish, about 50 days; longer lists are
only in the summary of its snapshot."""
ABANDONED_COMMITS = 50
"""Maximum number of abandoned commits in the log."""
LOG_LENGTH = 32_000
"""Maximum characters of the whole log, which is the limit of a table property in Hive's metastore."""


class Publish(Value, kw_only=True, omit_defaults=True):
    """One publish.

    Attributes:
        commit: commit id.
        token: the fencing token of its run.
        snapshot: id of its snapshot, which may have expired.
        keys: the partitions that it has written; None when the list was too long for the log.
        whole: whether it has replaced the whole table, including other partitions.
    """

    commit: str
    token: int
    snapshot: int
    keys: tuple[str, ...] | None = None
    whole: bool = False


class PublishLog(Value, kw_only=True):
    """The publishes into a table.

    Attributes:
        number: count of all publishes so far.
        top_token: the largest fencing token of all publishes.
        recent: the newest last, limited by `RECENT_PUBLISHES` and `LOG_LENGTH`.
        abandoned: ids of commits that must never be published, the newest last.
    """

    number: int = 0
    top_token: int = 0
    recent: tuple[Publish, ...] = ()
    abandoned: tuple[str, ...] = ()

    def find(self, commit: str) -> Publish | None:
        """Return the publish of a commit; None when the log does not list it."""
        return next((one for one in self.recent if one.commit == commit), None)

    def since(self, number: int) -> tuple[Publish, ...] | None:
        """Return the publishes after the first `number`; None when the log does not list all of them."""
        count = self.number - number
        if count < 0 or count > len(self.recent):
            return None
        return self.recent[len(self.recent) - count :]

    def with_publish(self, publish: Publish) -> "PublishLog":
        """Return the log with one more publish. A log that is too long loses old keys, then old publishes."""
        keys = publish.keys
        if keys is not None and sum(map(len, keys)) > KEYS_LENGTH:
            publish = msgspec.structs.replace(publish, keys=None)
        recent = [*self.recent, publish][-RECENT_PUBLISHES:]
        lengths = [_length(one) for one in recent]
        limit = LOG_LENGTH - sum(len(commit) + 3 for commit in self.abandoned)
        for number, one in enumerate(recent[:-1]):
            if sum(lengths) > limit and one.keys is not None:
                recent[number] = msgspec.structs.replace(one, keys=None)
                lengths[number] = _length(recent[number])
        while sum(lengths) > limit and len(recent) > 1:
            del recent[0], lengths[0]
        return PublishLog(
            number=self.number + 1,
            top_token=max(self.top_token, publish.token),
            recent=tuple(recent),
            abandoned=self.abandoned,
        )

    def with_abandoned(self, commit: str) -> "PublishLog":
        """Return the log with one more commit that must never be published."""
        return msgspec.structs.replace(self, abandoned=(*self.abandoned, commit)[-ABANDONED_COMMITS:])

    def forgotten_since(self, before: "PublishLog") -> tuple[Publish, ...]:
        """Return the publishes without keys here that had keys in the log `before`, or were not in it."""
        known = {one.commit for one in before.recent if one.keys is None}
        return tuple(one for one in self.recent if one.keys is None and one.commit not in known)


def decode_log(text: str | None) -> PublishLog:
    """Decode the log from a table's property; return an empty one for None.

    Raises:
        ValueError: the property is not a log of Tidegate.
    """
    return PublishLog() if text is None else msgspec.json.decode(text, type=PublishLog)


def encode_log(log: PublishLog) -> str:
    """Encode the log as the text of the property."""
    return msgspec.json.encode(log).decode()


def _length(publish: Publish) -> int:
    return len(msgspec.json.encode(publish)) + 1
