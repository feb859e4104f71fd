"""The protocol of stores, part by part: what is read and written of each kind of row."""
