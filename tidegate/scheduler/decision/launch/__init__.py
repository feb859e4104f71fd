"""The decision to launch: the order, the input, the partitions, and whether a run can write them."""
