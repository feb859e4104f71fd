"""The demo: the example project on real flights, run by a real daemon in a temporary folder.

`project` makes the folder, `run` drives it from landing to rest, `progress` says what
happens meanwhile, and `summary` what has happened in the end. Nothing here is simulated; only
the waits of the example, which are hours in life, are shortened, and the demo says so.
"""
