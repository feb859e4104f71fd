"""What SQL stores do beyond the engine's part of a store, done in memory in the most obvious way."""
