"""Schedules of other schedulers, translated into the YAML of an app.

    crontab ──`crontab`───────────┐
    JSON of CDAP ──`cdap`─────────┴─► `Translated`: parts, comments, scenarios ──► the text of the YAML
       crons of it ──`quartz`                                                 └─► a program for each command

Nothing is guessed: what has no exact translation is a comment at its place, and is counted.
"""
