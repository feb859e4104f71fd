"""*Ledger* and *Events*: what became of every event, in numbers, as a picture, and one by one."""
