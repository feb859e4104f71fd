"""Maintenance of tables in Dagster: two jobs, which exist where an app of the project has policies.

    poll starts an operation ─► dispatcher ─► run of `operation_job`: claim ─► operate ─► report its end
    poll wants a table measured ─► dispatcher ─► run of `measuring_job`: list ─► measure ─► report health

Dagster shows both, and the numbers of each operation on the asset of its table; the engine decides and keeps
the records. An operation is never a materialisation: that would be new data for the schedules.
"""
