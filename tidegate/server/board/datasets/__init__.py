"""*Datasets*: the graph of datasets and programs, and the partitions of one dataset.

edges.py ─► picture.py ─┐
                        ├─► pages.py
partitions.py ──────────┘
"""
