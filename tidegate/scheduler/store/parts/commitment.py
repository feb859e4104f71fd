"""What a run has promised to publish and not finished, or may still publish."""

from collections.abc import Collection

from tidegate.domain.value import Value


class Commitment(Value, kw_only=True):
    """A publish that is not finished, or a run that may still publish.

    Attributes:
        commit: commit id.
        names: the datasets that it writes, "app/name", and the watermarks that it moves,
            "app/program <- app/dataset".
        unfinished: its commit sequence exists; otherwise a run is open.
    """

    commit: str
    names: tuple[str, ...]
    unfinished: bool

    def touches(self, refs: Collection[str]) -> bool:
        """Return whether it writes any of these datasets, or moves a watermark of one or of a program."""
        return any(part in refs for name in self.names for part in name.split(" <- "))
