"""What people read about the active host."""

from tidegate.scheduler.launch.active_host import ActiveHost
from tidegate.spark_jobs.commit.process import shown


def host_text(host: ActiveHost) -> str:
    """Return one line on the active host."""
    return f"the host drives the engine: {shown(host.process)}, since {host.since:%Y-%m-%d %H:%M:%SZ}"
