"""Specs without their places in the YAML: two that differ in nothing else are the same."""

from typing import Any


def without_places(plain: Any) -> Any:
    """JSON without the places in the YAML, which may move without a change."""
    if isinstance(plain, dict):
        return {name: without_places(each) for name, each in plain.items() if name != "at"}
    if isinstance(plain, list):
        return [without_places(each) for each in plain]
    return plain
