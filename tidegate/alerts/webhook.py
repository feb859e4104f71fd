"""A webhook: a POST of JSON, as the receiver understands it.

The body is encoded, never put together from texts. Redirects are not followed: an alert goes to the address
of the settings or nowhere. Nothing of the address is in an error, since it may be a secret.
"""

import json
from collections.abc import Callable
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from tidegate.alerts.channel import Format, NotSent, Webhook, secret
from tidegate.alerts.texts import lines, links, members, plain, title
from tidegate.scheduler.model.records.alert import Alert, AlertKind

SECONDS = 15
"""For one POST."""

ANSWER_BYTES = 200
"""Of an answer that refuses, for the error."""


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: Any) -> None:
        """Follow no redirect."""


def send_webhook(channel: Webhook, alert: Alert) -> None:
    """Send an alert.

    Raises:
        NotSent: the receiver cannot be reached, or has not accepted it.
    """
    url = channel.url or secret(channel.url_env)
    if url.partition("://")[0].lower() not in ("http", "https"):
        raise NotSent("the URL is not one of http or https", "correct it in the settings or the variable")
    headers = {"Content-Type": "application/json", "User-Agent": "tidegate", "Idempotency-Key": alert.id}
    if channel.token_env:
        headers["Authorization"] = f"Bearer {secret(channel.token_env)}"
    body = json.dumps(BODIES[channel.format](alert)).encode()
    try:
        refusal = _refusal(Request(url, body, headers))
    except URLError as error:
        raise NotSent(f"the receiver cannot be reached: {plain(str(error.reason))}", "see its log") from None
    except (HTTPException, OSError, ValueError) as error:
        raise NotSent(f"the receiver cannot be reached: {type(error).__name__}", "check its URL") from None
    if refusal is not None:
        raise NotSent(refusal, "see its log")


def _refusal(request: Request) -> str | None:
    """Send a request; return how the receiver refuses it, None if it accepts, whatever follows its status."""
    try:
        with build_opener(_NoRedirects).open(request, timeout=SECONDS):
            return None
    except HTTPError as error:
        said = plain(error.read(ANSWER_BYTES).decode("utf-8", "replace")).strip()
        return f"the receiver answered {error.code}{': ' if said else ''}{said}"


def _slack(alert: Alert) -> dict[str, Any]:
    message = alert.message
    pages = [f"<{_mrkdwn(url)}|{name}>" for name, url in links(message)]
    text = "\n".join([f"*{_mrkdwn(title(message))}*", *(_mrkdwn(line) for line in lines(message)), *pages])
    fallback = _mrkdwn(title(message))
    return {
        "text": fallback,
        "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": True}}],
    }


def _mrkdwn(text: str) -> str:
    """Return a text in which Slack finds no link and no mention."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _teams(alert: Alert) -> dict[str, Any]:
    """An Adaptive Card, as workflows of Teams take it."""
    message = alert.message
    color = "Good" if message.kind is AlertKind.RECOVERED else "Attention"
    heading = {"type": "TextBlock", "text": _markdown(title(message)), "weight": "Bolder", "wrap": True}
    blocks = [{"type": "TextBlock", "text": _markdown(line), "wrap": True} for line in lines(message)]
    blocks += [{"type": "TextBlock", "text": f"[{name}]({url})"} for name, url in links(message)]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [{**heading, "color": color}, *blocks],
    }
    content = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
    return {"type": "message", "attachments": [content]}


def _markdown(text: str) -> str:
    """Return a text in which Teams finds no link and no formatting."""
    return "".join(f"\\{each}" if each in "\\`*_[]()<>#~|" else each for each in text)


BODIES: dict[Format, Callable[[Alert], dict[str, Any]]] = {"json": members, "slack": _slack, "teams": _teams}
"""The bodies by format."""
