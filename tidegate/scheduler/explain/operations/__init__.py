"""Operations on tables explained: why one waits, what the next polls start, and which policy counts."""
