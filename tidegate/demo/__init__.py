"""The demo: the example project on real flights, run by a real daemon in a temporary folder.

`project` creates the folder, `run` drives it from landing to completion, `progress` prints each
decision, and `summary` prints the results. Nothing is simulated; only the waits of the example
are shortened from hours to seconds, and the demo lists these changes.
"""
