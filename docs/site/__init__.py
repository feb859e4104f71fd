"""The site of the documentation: `python -m docs.site [FOLDER]`, or `make docs`.

    docs/*.md, README ─► `pages` ─┐
    schema, commands, OpenAPI ─► `reference` ─┴─► a staged folder ─► MkDocs, strict ─► FOLDER

Nothing is fetched, and the pages load nothing from another host.
"""
