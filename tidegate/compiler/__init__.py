"""Text to specification to model to plan to difference: the pure half of Tidegate.

Nothing in this package reads a clock, the environment or the network, and nothing in it
imports another package of the project, Dagster, Spark or SQLAlchemy. That keeps
`tidegate lint` fast, and its verdict the same on a laptop, in CI and at deploy time.
"""
