"""The deployed plan as a Dagster code location, and the dispatcher that ticks the engine in it.

Nothing here reads YAML: Dagster shows what is deployed in the schedule store. Imports
scheduler, compiler and spark_jobs; `tidegate.definitions` passes the settings.
"""
