"""The JSON Schema of the language: one file, for editors and for the check in `compiler.schema.check`.

The schema is deliberately flat: a trigger is one object whose kinds are keys beside each other, so that a
mistake gives one plain error instead of one for each branch of a union.
"""

import pkgutil

SCHEMA_FILE = "app.schema.json"


def schema_text() -> str:
    """Return the text of the schema file."""
    data = pkgutil.get_data(__name__, SCHEMA_FILE)
    assert data is not None, "the schema is part of this package"
    return data.decode("utf-8")
