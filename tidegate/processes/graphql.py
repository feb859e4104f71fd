"""Requests to a running Dagster webserver: a health check and the reload of a code location.

Plain HTTP on the loopback interface, without importing Dagster, so a command that only reloads
is fast.
"""

import json
import urllib.error
import urllib.request
from typing import Any

ANSWER_SECONDS = 5
RELOAD_SECONDS = 300
"""Loading thousands of definitions takes minutes."""

RELOAD = """
mutation Reload($name: String!) {
  reloadRepositoryLocation(repositoryLocationName: $name) {
    __typename
    ... on WorkspaceLocationEntry { locationOrLoadError { __typename ... on PythonError { message } } }
    ... on UnauthorizedError { message }
    ... on PythonError { message }
    ... on RepositoryLocationNotFound { message }
    ... on ReloadNotSupported { message }
  }
}
"""


def answers(url: str) -> bool:
    """Return whether a webserver answers at a URL."""
    try:
        with urllib.request.urlopen(f"{url}/server_info", timeout=ANSWER_SECONDS) as response:
            return response.status == 200
    except (urllib.error.URLError, OSError):
        return False


def reload_location(url: str, location: str) -> str | None:
    """Reload a code location; return the load error, if any."""
    try:
        found = ask(url, RELOAD, {"name": location})["reloadRepositoryLocation"]
    except (urllib.error.URLError, OSError) as error:
        return f"no webserver answers at {url}: {error}"
    if found["__typename"] != "WorkspaceLocationEntry":
        return found.get("message", found["__typename"])
    inner = found.get("locationOrLoadError") or {}
    return inner.get("message", "it cannot be loaded") if inner.get("__typename") == "PythonError" else None


def ask(url: str, query: str, variables: dict[str, Any], seconds: float = RELOAD_SECONDS) -> dict[str, Any]:
    """Send a GraphQL query and return the data of the answer.

    Raises:
        OSError: the webserver does not answer or refuses the query.
    """
    body = json.dumps({"query": query, "variables": variables}).encode()
    request = urllib.request.Request(f"{url}/graphql", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=seconds) as response:
        answer = json.loads(response.read())
    if "errors" in answer:
        raise OSError(f"GraphQL: {answer['errors'][0].get('message')}")
    return answer["data"]
