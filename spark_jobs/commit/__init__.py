"""Commit sequences: what publishes the staged output of a run exactly once.

A run stages its output, puts one `CommitSequence` into the store in one transaction, and
then works through its steps:

    stage ──► put ──► for each step: verify ──► done ─────────────► next
                                       │  └──► unknown ──► stop, keep the sequence
                                       └──► not done ──► execute ──► verify again
                                                                        └──► remove (keeps the result)

A process that dies before `put` has published nothing: its staging is rubbish. One that
dies after it has promised everything: whoever writes the dataset next finishes the
sequence first. Steps are idempotent and `verify` asks for identity, never for existence,
so it does not matter where it died, or whether two processes finish it at once.
"""
