"""Metrics as text in the exposition format of Prometheus, version 0.0.4 (docs/adr/0048)."""

from collections.abc import Iterable

from tidegate.scheduler.explain.metrics import METRICS, Metric, Sample

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
