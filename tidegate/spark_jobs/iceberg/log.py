"""What an Iceberg table remembers of our publishes, in one property of the table itself.

The property changes in the same metadata commit as the rows, so the two cannot disagree,
and it outlives the snapshots: expiring them or rewriting files takes no evidence away. It
is bounded; whoever asks for something older gets "unknown", never "no". Pure values here.
"""

import msgspec

from tidegate.domain.value import Value

PROPERTY = "tidegate.publishes"
RECENT_PUBLISHES = 200
"""How many publishes back a commit is recognised. The property is written anew with each one."""
KEYS_LENGTH = 600
"""Characters of partition keys that one publish may have in the log, 50 days or so; more are left to the
summary of its snapshot."""
LOG_LENGTH = 32_000
"""Characters of the whole log. Hive's metastore keeps no longer table property."""


class Publish(Value, kw_only=True, omit_defaults=True):
    """One publish.

    Attributes:
        commit: commit id.
        token: the fencing token of its run.
        snapshot: id of its snapshot, which may have expired.
        keys: the partitions it has written; None when they were too many to be kept here.
        whole: it has replaced the whole table, other partitions too.
    """

    commit: str
    token: int
    snapshot: int
    keys: tuple[str, ...] | None = None
    whole: bool = False


class PublishLog(Value, kw_only=True):
    """The publishes into a table.

    Attributes:
        number: how many there have been.
        top_token: the largest fencing token among all of them.
        recent: the newest last, at most `RECENT_PUBLISHES`, and no more than `LOG_LENGTH` allows.
    """

    number: int = 0
    top_token: int = 0
    recent: tuple[Publish, ...] = ()

    def find(self, commit: str) -> Publish | None:
        """The publish of a commit, while it is remembered."""
        return next((one for one in self.recent if one.commit == commit), None)

    def since(self, number: int) -> tuple[Publish, ...] | None:
        """The publishes after the first `number`; None when some of them are forgotten, or never were."""
        count = self.number - number
        if count < 0 or count > len(self.recent):
            return None
        return self.recent[len(self.recent) - count :]

    def with_publish(self, publish: Publish) -> "PublishLog":
        """The log with one more publish. Where it grows too long, old keys go first, then old publishes."""
        keys = publish.keys
        if keys is not None and sum(map(len, keys)) > KEYS_LENGTH:
            publish = msgspec.structs.replace(publish, keys=None)
        recent = [*self.recent, publish][-RECENT_PUBLISHES:]
        lengths = [_length(one) for one in recent]
        for number, one in enumerate(recent[:-1]):
            if sum(lengths) > LOG_LENGTH and one.keys is not None:
                recent[number] = msgspec.structs.replace(one, keys=None)
                lengths[number] = _length(recent[number])
        while sum(lengths) > LOG_LENGTH and len(recent) > 1:
            del recent[0], lengths[0]
        return PublishLog(
            number=self.number + 1, top_token=max(self.top_token, publish.token), recent=tuple(recent)
        )

    def forgotten_since(self, before: "PublishLog") -> tuple[Publish, ...]:
        """The publishes whose partitions stand no longer in the log, and did, or never have, `before`."""
        known = {one.commit for one in before.recent if one.keys is None}
        return tuple(one for one in self.recent if one.keys is None and one.commit not in known)


def decode_log(text: str | None) -> PublishLog:
    """The log that a table's property holds; an empty one for a table without.

    Raises:
        ValueError: somebody else has written the property.
    """
    return PublishLog() if text is None else msgspec.json.decode(text, type=PublishLog)


def encode_log(log: PublishLog) -> str:
    """The log as the text of the property."""
    return msgspec.json.encode(log).decode()


def _length(publish: Publish) -> int:
    return len(msgspec.json.encode(publish)) + 1
