"""Builders: from nodes to the validated model, with defaults filled in and names resolved.

The nodes have the right shape (`compiler.schema.check`), so a builder only interprets values and reports
wrong ones. It leaves out a part with an error; the names of these parts stay known, so that one mistake
is reported once.
"""
