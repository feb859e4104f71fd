"""The commands of `tidegate`, one file each; `tidegate.cli.main` finds them by its table.

Importing this package, or `main`, loads no command: each one imports what it needs when
it is called, so that `tidegate lint` starts without Dagster, Spark and SQLAlchemy.
"""
