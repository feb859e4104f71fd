"""Lists, each declared once: its filters, columns, order and actions, and the public struct of a line.

    declaration (late.py, …) ─► read.py ─► table and JSON of a command, REST route with its schema, board page
                                              tidegate.cli.listing   tidegate.server.listing   …board.listing

A declaration loads no part of the engine: its query is a function of `queries/`, which is loaded when it is
called. The faces know no list by name.
"""
