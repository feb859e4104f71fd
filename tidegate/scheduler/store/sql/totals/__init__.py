"""Totals that each transaction keeps, so that the ledger and metrics cost the same however much is stored."""
