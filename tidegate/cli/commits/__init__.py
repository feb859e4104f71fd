"""The commands about publishing: unfinished commit sequences, repairs, watermarks."""
