"""The rules for datasets, their folders, and the programs that read and write them."""
