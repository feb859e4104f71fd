"""The two questions that are asked of a running Dagster webserver: are you there, and please reload.

Plain HTTP on the loopback interface; nothing of Dagster is imported, so a command that only
reloads stays quick.
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
    """Whether a webserver answers at a URL."""
    try:
        with urllib.request.urlopen(f"{url}/server_info", timeout=ANSWER_SECONDS) as response:
            return response.status == 200
    except (urllib.error.URLError, OSError):
        return False


def reload_location(url: str, location: str) -> str | None:
    """Have a code location loaded anew.

    Returns:
        Why its definitions cannot be loaded, or None.
    """
    try:
        found = ask(url, RELOAD, {"name": location})["reloadRepositoryLocation"]
    except (urllib.error.URLError, OSError) as error:
        return f"no webserver answers at {url}: {error}"
    if found["__typename"] != "WorkspaceLocationEntry":
        return found.get("message", found["__typename"])
    inner = found.get("locationOrLoadError") or {}
    return inner.get("message", "it cannot be loaded") if inner.get("__typename") == "PythonError" else None


def ask(url: str, query: str, variables: dict[str, Any], seconds: float = RELOAD_SECONDS) -> dict[str, Any]:
    """The data of a GraphQL answer.

    Raises:
        OSError: the webserver does not answer, or refuses the query.
    """
    body = json.dumps({"query": query, "variables": variables}).encode()
    request = urllib.request.Request(f"{url}/graphql", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=seconds) as response:
        answer = json.loads(response.read())
    if "errors" in answer:
        raise OSError(f"GraphQL: {answer['errors'][0].get('message')}")
    return answer["data"]
