"""Tidegate, a declarative scheduler for Spark pipelines on Dagster.

docs/architecture.md describes the packages. docs/rules.md has the rules that the code cites by number
("rule 12").
"""
