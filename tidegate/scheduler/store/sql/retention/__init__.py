"""Retention in SQL: what may be pruned, the sums of the ledger, and the snapshots of `why --at`."""
