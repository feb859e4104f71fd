"""What the oracle knows of periods of datasets that are late."""

from datetime import datetime

from tidegate.scheduler.model.journal import Entry


class LateData:
    """Reads entries of data that is expected, in order."""

    def __init__(self) -> None:
        self._late: dict[tuple[str, str], bool] = {}
        self._due: dict[tuple[str, str], datetime] = {}

    def read(self, entry: Entry) -> None:
        """A period is late once, after its deadline, and lands after all once at most."""
        period = entry.data["dataset"], entry.data["key"]
        if entry.kind == "late":
            assert period not in self._late, f"{period} is late twice"
            assert entry.at >= datetime.fromisoformat(entry.data["due"]), f"{period} is not late yet"
        else:
            assert self._late.get(period), f"{period} was not late, or has landed before"
        self._late[period] = entry.kind == "late"
        if entry.kind == "late":
            self._due[period] = datetime.fromisoformat(entry.data["due"])

    def set_back(self, now: datetime) -> None:
        """The clock was ahead: what was judged ahead is judged when its deadline comes."""
        for period in [period for period, due in self._due.items() if due > now]:
            del self._due[period], self._late[period]
