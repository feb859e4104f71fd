"""Templates and defaults: an app as it is written becomes an app of ordinary parts.

`csv_rows` and `table` read a file of rows, `rows` makes the rows of a template's `for`, `fill` the parts of
one row, `expand` the app. All that comes after it, from the check against the schema on, knows parts only.
"""
