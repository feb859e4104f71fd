"""The compiler: from YAML text to a validated model, a plan and a difference.

The package does not read a clock, the environment or the network. Of the project it imports only
`tidegate.domain`, and it does not import Dagster, Spark or SQLAlchemy. So `tidegate lint` is fast and
has the same result on a laptop, in CI and at deploy time.
"""
