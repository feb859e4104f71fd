"""Triggers: what makes a job ready. One file for each kind that hears something; `tree` joins them.

A kind is a struct, and answers what the compiler, the engine and the command line ask about it (see
`facts`). None of them asks which kind it is. `tree` lists all kinds once, in the union that
the store decodes.
"""
