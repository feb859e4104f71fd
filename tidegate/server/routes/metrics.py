"""Metrics in the text format of Prometheus; see docs/metrics.md."""

from typing import Any

from fastapi import APIRouter, Response

from tidegate.scheduler.explain.metrics import metrics
from tidegate.server.access import READ, Called
from tidegate.server.contract import ANY_OBJECT, contract
from tidegate.server.exposition import MEDIA_TYPE, exposition
from tidegate.server.service import Here
from tidegate.server.visible import visible_apps

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
