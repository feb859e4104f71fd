"""Commit sequences: what publishes the staged output of a run exactly once.

A run opens an attempt, stages its output under the attempt's token, puts one `CommitSequence`
into the store in one transaction, and then works through its steps:

    begin ──► stage ──► put ──► take ──► for each step: verify ──► done ─────────────► next
      │                  │                                │  └──► unknown ──► stop, keep the sequence
      └── lease is over: └──► fenced, moved:              └──► not done ──► execute ──► verify again
          given up            nothing was promised                             after the last: remove

A process that dies before `put` has published nothing: its staging is rubbish, and removed once its
attempt is given up, from when on its `put` would be refused. One that
dies after `put` has promised everything: whoever writes the dataset next, or reads on from a watermark
that the sequence moves, finishes it first. Steps are idempotent and `verify` asks for identity, never for
existence, so it does not matter where it died, or whether two processes finish it at once. The lease of
the one who takes it only keeps others from doing the same. A sequence that fails again and again is in
the end left to a person, and blocks its own datasets only. If that person abandons it, its id is never used
again, since its tables may hold half of it: what its run does anew is another commit.

`step` what a step is · `steps/` the kinds · `sequence` · `store` the contract of what is kept · `lease`,
`owner`, `clock` who is at work · `publish` the run's side · `finish` the steps' side · `recovery` afterwards
"""
