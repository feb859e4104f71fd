"""The cost of one and of a hundred plain Dagster sensor ticks, compared with one tick of the engine.

Dagster's ticks are real: a code server, an instance on SQLite, and the daemon's own iteration over all
sensors, each of which returns a skip reason immediately. The engine's tick is an idle tick on SQLite: the
cost that the dispatcher adds to its one sensor tick, for any number of schedules.
"""

import logging
import statistics
import sys
import tempfile
import time
from pathlib import Path

from dagster import DagsterInstance
from dagster._core.workspace.load_target import PythonFileTarget
from dagster._daemon.sensor import execute_sensor_iteration

from benchmarks.deployed import START, deployed, opened
from tidegate.dagster_defs.internals.workspace import WorkspaceProcessContext
from tidegate.scheduler.tick.tick import tick

COUNTS = (1, 100)
ROUNDS = 5
SERVED = 1_000
"""Number of schedules of the dispatcher."""

_SENSORS = """\
import dagster as dg


@dg.job
def nothing():
    pass


def plain(number):
    @dg.sensor(
        name=f"plain_{{number}}",
        job=nothing,
        minimum_interval_seconds=0,
        default_status=dg.DefaultSensorStatus.RUNNING,
    )
    def body(context):
        return dg.SkipReason("nothing to do")

    return body


defs = dg.Definitions(jobs=[nothing], sensors=[plain(number) for number in range({count})])
"""


def main() -> int:
    """Measure and print the reference figures, without an aim."""
    costs = {count: _round(count) for count in COUNTS}
    with tempfile.TemporaryDirectory() as folder, opened(f"sqlite:///{folder}/store.db") as store:
        deployed(store, SERVED, count=1)
        tick(store, START)
        times: list[float] = []
        for _ in range(ROUNDS * 10):
            begun = time.perf_counter()
            tick(store, START)
            times.append(time.perf_counter() - begun)
    ours = statistics.median(times)
    for count, seconds in costs.items():
        print(f"{count:>4} plain sensor(s), one round of ticks: {seconds * 1000:9.1f} ms", flush=True)
    print(f"   engine tick over {SERVED:,} schedules:       {ours * 1000:9.1f} ms", flush=True)
    one, hundred = (costs[count] for count in COUNTS)
    print(
        f"a hundred sensors cost {hundred / one:.0f} times one; one dispatcher for {SERVED:,} schedules"
        f" costs {(one + ours) / one:.2f} times one",
        flush=True,
    )
    return 0


def _round(count: int) -> float:
    """Return the median time of a round over `count` sensors, in seconds, without the first round."""
    logger = logging.getLogger("benchmarks.sensor_ticks")
    logger.setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "plain.py"
        file.write_text(_SENSORS.format(count=count))
        target = PythonFileTarget(
            python_file=str(file), attribute=None, working_directory=folder, location_name="plain"
        )
        with (
            DagsterInstance.local_temp(folder) as instance,
            WorkspaceProcessContext(instance, target) as workspace,
        ):
            times: list[float] = []
            for _ in range(ROUNDS + 1):
                begun = time.perf_counter()
                list(execute_sensor_iteration(workspace, logger, None, None))
                times.append(time.perf_counter() - begun)
            ticks = sum(
                len(instance.get_ticks(state.instigator_origin_id, state.selector_id, limit=1))
                for state in instance.all_instigator_state()
            )
            assert ticks == count, f"{ticks} of {count} sensors have ticked"
    return statistics.median(times[1:])


if __name__ == "__main__":
    sys.exit(main())
