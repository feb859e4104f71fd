"""The gauges that were reported, and those that schedules wait for."""

from collections.abc import Iterator, Mapping

from tidegate.domain.part_name import app_of
from tidegate.listings.gauges import ReportedGauge
from tidegate.listings.read import Asked
from tidegate.scheduler.commands.gauge import gauge_limits
from tidegate.scheduler.model.run import GAUGES, Gauge


def list_gauges(asked: Asked) -> Iterator[ReportedGauge]:
    """Yield the gauges; of an app, or to a caller who sees only one, those that its schedules wait for."""
    limits = gauge_limits(asked.reader, asked.wanted.get("app"))
    reported = {gauge.name: gauge for gauge in asked.reader.records(GAUGES)}
    of_all = asked.scope.catalogs and "app" not in asked.wanted
    for name in reported if asked.wanted.get("reported", True) else reported | limits:
        found = public_gauge(name, reported.get(name), limits, asked.apps)
        if of_all or found.limits:
            yield found


def public_gauge(
    name: str, gauge: Gauge | None, limits: Mapping[str, Mapping[str, float]], apps: frozenset[str] | None
) -> ReportedGauge:
    """Return a gauge as all faces show it.

    Args:
        gauge: its last report; None until the first one.
        limits: of deployed schedules, by gauge and schedule.
        apps: the only ones whose limits are shown; None for all.
    """
    own = limits.get(name, {})
    return ReportedGauge(
        name=name,
        value=None if gauge is None else gauge.value,
        reported_at=None if gauge is None else gauge.reported_at,
        limits={ref: most for ref, most in own.items() if apps is None or app_of(ref) in apps},
    )
