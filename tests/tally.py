"""The tally: what the proof of the engine has reached in this run of the tests, in numbers.

A test adds to it, each worker hands its own to the one that prints, and the sums are at the
end of the run beside what was promised. The promises hold for a whole run only, so a run of a
few tests shows smaller numbers and is not blamed for them. A soak promises more, see `tests.effort`.
The last line names the real parts that took part; a whole run in which one is missing has failed.
"""

from collections import Counter

from tests import tiers
from tests.effort import much

REACHED: Counter[str] = Counter()
"""What the tests of this process have reached so far."""

PROMISED = {
    "simulated histories on SQLite": much(6),
    "crashes in them": much(60),
    "simulated ticks in memory": much(3_000),
    "points of the crash sweep": 300,
    "points of the crash sweep of maintenance": 200,
    "points of the crash sweep of tasks": 400,
    "real processes killed": 8 + much(2),
    "contested firings": much(2_000),
    "planted bugs found": min(28, much(10)),
    "kills of Spark writers": 23 + much(5),
    "looks of a reader": much(50),
}
"""What every whole run of the tests reaches at least."""

PARTS = ("Spark", "Iceberg", "PostgreSQL", "Dagster", "browser", "SMTP", "S3")
"""What the project runs beside its own code. S3 and SMTP are servers on this machine with that protocol."""

_PART = "real part: "


def take_part(part: str) -> None:
    """Note that a real part has been started for a test."""
    assert part in PARTS, part
    REACHED[_PART + part] = 1


def missing_parts(reached: Counter[str]) -> list[str]:
    """Return the parts that no test has started, of those that can be on this machine."""
    wanted = [part for part in PARTS if part != "Iceberg" or tiers.has_iceberg()]
    return [part for part in wanted if not reached[_PART + part]]


def closing_line(reached: Counter[str]) -> str:
    """Return the line that says which real parts took part, and which did not."""
    missing = missing_parts(reached)
    took_part = ", ".join(part for part in PARTS if reached[_PART + part]) or "none"
    return f"real parts: {took_part}" + (f"; without {', '.join(missing)}" if missing else "")


def reach(what: str, amount: int = 1) -> None:
    """Count something that a test has done; `what` is in the plural."""
    REACHED[what] += amount


def lines(reached: Counter[str]) -> list[str]:
    """The sums for people, the promised ones first."""
    others = sorted(name for name in reached.keys() - PROMISED.keys() if not name.startswith(_PART))
    names = [*(name for name in PROMISED if name in reached), *others]
    width = max((len(f"{reached[name]:,}") for name in names), default=0)
    return [
        f"{reached[name]:>{width},} {name}" + (f" (promised: {PROMISED[name]:,})" if name in PROMISED else "")
        for name in names
    ]
