"""Maintenance of tables: lists them, measures their health, and carries out the operations of policies.

    list_tables ─► measure ─► (the engine decides) ─► run_operation
                                                        │ for each slice of the work:
                                                        │   stop? yield? ─► rewrite ─► commit
                                                        └─► what has changed, and measures before and after

Iceberg tables of every Spark catalog, and tables of datasets in both formats. An operation changes no row. It
works in slices, each of which ends with a commit, so that what was done remains if it is stopped, if it makes
room for a pipeline, or if its process dies. Nothing of it is repeated, since each run plans again what is
left.

What is committed has the operation `replace`, which neither counts as a change of rows for runs that publish
at the same time (`iceberg.table.changes`) nor as new rows for incremental readers (`iceberg.new_rows`).

`request` what is asked for, and by whom it is stopped · `operation` runs one · `measuring`, `listing` ·
`iceberg`, `parquet` the operations on each format.
"""
