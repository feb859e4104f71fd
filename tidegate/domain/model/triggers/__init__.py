"""Triggers, the conditions that make a job ready. One file for each kind of leaf; `tree` holds composites.

A kind is a struct that answers questions of the compiler, the engine and the command line about itself
(see `facts`), so that they never test for a kind. `tree` lists all kinds once, in the union that the
store decodes.
"""
