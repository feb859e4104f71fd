"""An app as YAML: the parts that its templates, defaults and variables make, in the layout of `tidegate fmt`.

The text lints clean and compiles to the same app.
"""

from collections.abc import Iterator
from typing import Any, cast

from tidegate.compiler.layout import order_at
from tidegate.compiler.render.yaml_text import below, block


def app_yaml(document: dict[str, Any]) -> str:
    """Return the YAML of an app.

    Args:
        document: the app as builtin values, expanded.
    """
    return "".join(f"{line}\n" for line in _lines(document))


def _lines(document: dict[str, Any]) -> Iterator[str]:
    for key, value in _ordered(document, ()).items():
        if isinstance(value, dict | list) and value:
            yield from ("", f"{key}:", *block(_in_order(value, key), "  "))
        else:
            yield f"{key}:{below(value, '  ')}"


def _in_order(value: Any, section: str) -> Any:
    """Return a section whose parts have their keys in the order of the language."""
    if isinstance(value, dict):
        return {name: _ordered(part, (section, name)) for name, part in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_ordered(part, (section, at)) for at, part in enumerate(cast("list[Any]", value))]
    return value


def _ordered(value: Any, path: tuple[str | int, ...]) -> Any:
    """Return a mapping with its keys in the order of the language; any other value as it is."""
    if not isinstance(value, dict):
        return value
    found = cast("dict[str, Any]", value)
    order = {key: place for place, key in enumerate(order_at(path))}
    return {key: found[key] for key in sorted(found, key=lambda key: order.get(key, len(order)))}
