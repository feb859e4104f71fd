"""The commands for publishing: unfinished commit sequences, repairs, watermarks."""
