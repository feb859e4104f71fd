"""Metrics in the text format of Prometheus; see docs/metrics.md."""

from collections.abc import Iterable, Iterator
from typing import Any

from fastapi import APIRouter, Response
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from tidegate.scheduler.explain.metrics import METRICS, Metric, Sample, metrics
from tidegate.server.access import READ, Called
from tidegate.server.contract import ANY_OBJECT, contract
from tidegate.server.service import Here
from tidegate.server.visible import visible_apps

router = APIRouter(tags=["health"])

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

DESCRIBED: dict[str, Any] = contract(ANY_OBJECT)
DESCRIBED["responses"][200]["content"] = {MEDIA_TYPE: {"schema": {"type": "string"}}}


@router.get("/metrics", dependencies=[READ], **DESCRIBED)
def show_metrics(service: Here, caller: Called) -> Response:
    """Return the metrics of the engine in the text format of Prometheus."""
    settings = service.settings
    with service.store.reading() as reader:
        apps = visible_apps(service, reader, caller)
        found = list(metrics(reader, settings.name, service.clock(), settings.tick_seconds, apps))
    # A registry per answer: the numbers are those of the store, and a token may see some of them only.
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Found(found))
    return Response(generate_latest(registry), media_type=MEDIA_TYPE)


class _Found(Collector):
    """The samples of one answer, with all metrics, those without a sample too."""

    def __init__(self, found: Iterable[tuple[Metric, Sample]]) -> None:
        self._found = found

    def collect(self) -> Iterator[Family]:
        """See `Collector.collect`."""
        families = {
            metric.name: (CounterMetricFamily if metric.counts_up else GaugeMetricFamily)(
                metric.name, metric.help, labels=metric.labels
            )
            for metric in METRICS
        }
        for metric, sample in self._found:
            families[metric.name].add_metric(sample.values, sample.number)
        yield from families.values()
