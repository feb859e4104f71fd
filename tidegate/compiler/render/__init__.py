"""Renderers of the compiler's results: one small file for each result and format.

A renderer decides nothing: it receives computed data.
"""
