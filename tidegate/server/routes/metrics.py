"""Metrics in the text format of Prometheus; see docs/metrics.md."""

from collections.abc import Iterable
from typing import Any

from fastapi import APIRouter, Response

from tidegate.scheduler.explain.metrics import METRICS, Metric, Sample, metrics
from tidegate.server.access import READ, Called
from tidegate.server.contract import ANY_OBJECT, contract
from tidegate.server.service import Here
from tidegate.server.visible import visible_apps

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_ESCAPED = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


def exposition(found: Iterable[tuple[Metric, Sample]]) -> str:
    """Return samples as text, grouped by metric; a metric without a sample is described too."""
    lines = {metric: list(_head(metric)) for metric in METRICS}
    line_of = {metric: _line(metric) for metric in METRICS}
    for metric, sample in found:
        values = (value.translate(_ESCAPED) for value in sample.values)
        lines[metric].append(line_of[metric] % (*values, sample.number))
    return "".join(line for metric in METRICS for line in lines[metric])


def _head(metric: Metric) -> tuple[str, str]:
    kind = "counter" if metric.counts_up else "gauge"
    return f"# HELP {metric.name} {metric.help}\n", f"# TYPE {metric.name} {kind}\n"


def _line(metric: Metric) -> str:
    """Return the line of a sample, with places for the values of its labels and for its number."""
    labels = ",".join(f'{label}="%s"' for label in metric.labels)
    return f"{metric.name}{{{labels}}} %r\n" if labels else f"{metric.name} %r\n"


router = APIRouter(tags=["health"])

DESCRIBED: dict[str, Any] = contract(ANY_OBJECT)
DESCRIBED["responses"][200]["content"] = {MEDIA_TYPE: {"schema": {"type": "string"}}}


@router.get("/metrics", dependencies=[READ], **DESCRIBED)
def show_metrics(service: Here, caller: Called) -> Response:
    """Return the metrics of the engine in the text format of Prometheus."""
    settings = service.settings
    with service.store.reading() as reader:
        apps = visible_apps(service, reader, caller)
        text = exposition(metrics(reader, settings.name, service.clock(), settings.tick_seconds, apps))
    return Response(text, media_type=MEDIA_TYPE)
