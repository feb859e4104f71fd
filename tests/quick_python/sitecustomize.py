"""How each Python loads that a test starts: with the garbage collector of `tidegate.project.loading`.

`PYTHONPATH` names this folder while tests run. Of their processes many are Dagster's own, of which a third of
the processor time was the collector's; those that our commands start load so by themselves. This file must
import nothing else: it is loaded first in every process, also where Tidegate is not installed.
"""

import atexit
import gc

gc.set_threshold(50_000, 20, 20)
atexit.register(gc.freeze)
