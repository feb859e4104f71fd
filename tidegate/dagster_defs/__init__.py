"""The deployed plan as a Dagster code location, and the dispatcher that ticks the engine in it.

Nothing here reads YAML: what is deployed in the schedule store is what Dagster shows. Imports
scheduler, compiler and spark_jobs; `tidegate.definitions` hands it the settings.
"""
