"""Two apps for the tests of names across apps: `feeds` lands a dataset, and `sales` reads it."""

FEEDS = """
app: feeds
datasets:
  raw: {partitions: {cycle: day, start: 2026-01-01}}
programs:
  land: {run: jobs.land, writes: [raw]}
"""
SALES = """
app: sales
datasets:
  report: {partitions: {cycle: day, start: 2026-01-01}}
programs:
  report: {run: jobs.report, reads: [feeds/raw], writes: [report]}
schedules:
"""
"""Ends where its schedules follow."""
