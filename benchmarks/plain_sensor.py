"""A plain asset sensor of Dagster, with which measurements compare the engine."""

_TEXT = """\
import dagster as dg


@dg.op
def nothing():
    pass


@dg.job
def plain_job():
    nothing()


@dg.asset_sensor(
    asset_key=dg.AssetKey(["bench", "{dataset}"]),
    job=plain_job,
    minimum_interval_seconds=1,
    default_status=dg.DefaultSensorStatus.RUNNING,
)
def plain_sensor(context, asset_event):
    yield dg.RunRequest(run_key=context.cursor, tags={{"plain": "yes"}})
"""


def plain_sensor(dataset: str) -> str:
    """Return a module whose `plain_sensor` starts a run of `plain_job` for each event of a dataset.

    It looks every second, the shortest interval that Dagster has.
    """
    return _TEXT.format(dataset=dataset)
