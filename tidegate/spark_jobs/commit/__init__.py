"""Commit sequences: publish the staged output of a run exactly once.

A run opens an attempt, stages its output under the attempt's token, puts one `CommitSequence`
into the store in one transaction, and then works through its steps:

    begin ──► stage ──► put ──► take ──► for each step: verify ──► done ─────────────► next
      │                  │                                │  └──► unknown ──► stop, keep the sequence
      └── lease expired: └──► fenced, moved:              └──► not done ──► execute ──► verify again
          attempt closed      nothing is published                             after the last: remove

A process that dies before `put` has published nothing. Its staging is garbage and is removed once its
attempt is closed; from then on the store refuses its `put`. A process that dies after `put` leaves a
complete plan: the next run that writes one of the datasets, or reads from a watermark that the sequence
moves, finishes the sequence first. Steps are idempotent, and `verify` compares identity, not existence, so
a sequence can be finished from any point, even by two processes at once. The lease of the owner only avoids
duplicate work. A sequence that keeps failing is left to a person and blocks only its own datasets. When that
person abandons it, its id is never used again, because its tables may hold part of it: the next attempt of
its run is another commit.

`step` the contract of a step · `steps/` the kinds · `sequence` · `state` what has become of a commit ·
`lease`, `process`, `clock` liveness of processes · `publish` used by runs · `finish` executes the steps ·
`recovery` finishes what runs left.
The contract of the store is `tidegate.domain.commit_store`.
"""
