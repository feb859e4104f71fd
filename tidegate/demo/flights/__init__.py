"""The programs of schedules/flights.yaml: the flights of 2013, their weather, and a report.

Each module is one program: a function `run(spark, inputs, params)` and the columns it
returns. They import only PySpark, and do not use files or clocks.
"""
