"""The tables of a history: what has landed, and what runs have made of it and published."""

from dataclasses import dataclass

from tidegate.scheduler.launch.outbox import LaunchRequest


@dataclass(frozen=True)
class Made:
    """What a run has made, before its publish: the content of the partitions that it writes."""

    job: str
    order: int
    name: str
    content: dict[str, str]


class Tables:
    """Partitions and their content, which is a text that names all that it was made of.

    Of two runs that replace a partition the one that began later stays, in whatever order they publish.

    Attributes:
        landed: the content of input, by dataset and key.
    """

    def __init__(self) -> None:
        self.landed: dict[tuple[str, str], str] = {}
        self._published: dict[tuple[str, str], tuple[int, str]] = {}
        self._made: dict[str, Made] = {}
        self._done: set[str] = set()

    def land(self, dataset: str, key: str, version: int) -> None:
        """Input comes, or is rewritten."""
        self.landed[dataset, key] = f"{dataset}{key}#{version}"

    def content(self, name: str, key: str) -> str | None:
        """Return what a partition has; None for one that was never published."""
        found = self._published.get((name, key))
        return self.landed.get((name, key)) if found is None else found[1]

    def begin(self, run_id: str, request: LaunchRequest) -> None:
        """A run begins, and reads the partitions of its manifest as they are now."""
        read = sorted(
            str(self.content(dataset, key))
            for dataset, keys in request.launch.manifest.items()
            for key in keys
        )
        name = request.schedule.partition("/")[2]
        content = {key: f"{name}[{key}]({', '.join(read)})" for key in request.launch.partitions}
        self._made[run_id] = Made(job=request.job, order=len(self._made), name=name, content=content)

    def publish(self, run_id: str) -> bool:
        """Publish what a run has made; False if that of a later run is there.

        What another attempt of the job has published stays.
        """
        made = self._made[run_id]
        if made.job in self._done:
            return True
        places = [(made.name, key) for key in made.content]
        if any((self._published.get(place) or (-1, ""))[0] > made.order for place in places):
            return False
        self._published.update({(made.name, key): (made.order, text) for key, text in made.content.items()})
        self._done.add(made.job)
        return True

    def is_published(self, job: str) -> bool:
        """Return whether a job has published."""
        return job in self._done
