"""Measurements, each beside a reference taken in the same run. `make bench` runs them all.

A figure without its reference says nothing on another machine, so a benchmark prints
ratios and, where the project promises one, whether the promise holds.
"""
