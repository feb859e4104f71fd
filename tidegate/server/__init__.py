"""The HTTP server: a thin shell around the commands of the engine, with the contract of docs/rest.md.

`application` assembles it; `routes` has one file for each group of paths. A route reads the request, calls
one command or one query of the engine, and shapes the answer. It decides nothing itself.
"""
