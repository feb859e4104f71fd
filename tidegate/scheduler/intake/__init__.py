"""Facts from outside: observed runs, published partitions, fired crons."""
