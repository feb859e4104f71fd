"""Facts from outside: runs that were seen, partitions that were published, crons that fired."""
