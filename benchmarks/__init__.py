"""Benchmarks, each with a reference measured in the same run. `make bench` runs all of them.

A figure without a reference is meaningless on another machine, so a benchmark prints ratios and
whether they meet the project's limits.
"""
