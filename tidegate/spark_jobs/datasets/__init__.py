"""Datasets on disk: where they are, their partition columns, and which partitions a run reads."""
