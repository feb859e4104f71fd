"""*Datasets*: the graph of datasets and programs, and the partitions of one dataset.

states.py, edges.py ─► graph.py ─┐
                                 ├─► pages.py
partitions.py ───────────────────┘
"""
