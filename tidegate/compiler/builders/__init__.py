"""Nodes to the validated model: every default filled in, every name resolved.

What comes here has the right shape (`compiler.schema.check`), so these modules only give
values their meaning and report the ones that have none. A part with an error is left out;
names of left-out parts stay known, so that one mistake is reported once.
"""
