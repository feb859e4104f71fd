"""The job after each entry of its journal, which commands write and `why --at` folds."""
