"""Tidegate, a declarative scheduler for Spark pipelines on Dagster.

docs/architecture.md says which package does what. A rule that the code cites by number ("rule 12") is a
paragraph of docs/rules.md.
"""
