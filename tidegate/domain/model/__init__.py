"""The validated model of an app, after its YAML has been read and checked.

Every default is filled in, every duration is a `timedelta`, every zone is in the zone database, and
every reference is resolved. The engine, `plan`, `diff`, the scenarios and the Dagster definitions use
only these values. They are encoded as JSON in the schedule store, so a field's name is part of the
storage format. Import everything from here; each noun has a file of its own.

`at` is the place in the YAML, for `tidegate why` and for diagnostics. It is not part of a
fingerprint: moving a schedule down a file is not a change.
"""

# pyright: reportUnusedImport=false

from tidegate.domain.model.app import (
    App,
    encode,
)
from tidegate.domain.model.check import (
    Bounds,
    ChangeCheck,
    Check,
    CheckBase,
    MatchesCheck,
    NotNullCheck,
    RangeCheck,
    ReferenceCheck,
    RowsCheck,
    RunCheck,
    SqlCheck,
    UniqueCheck,
    ValuesCheck,
)
from tidegate.domain.model.constraint import (
    DEFAULT_TIMEOUT,
    NEVER,
    ConcurrencyConstraint,
    Constraint,
    ConstraintBase,
    DelayConstraint,
    LoadConstraint,
    Otherwise,
    RateConstraint,
    SinceLastRunConstraint,
    Timeout,
    WindowConstraint,
)
from tidegate.domain.model.dataset import (
    Cycle,
    Dataset,
    DeclaredColumn,
    ExistingJob,
    OnForeign,
    OnNewColumn,
    PartitionScheme,
    Program,
    SqlQuery,
    StaticDimension,
    TimeDimension,
    Watch,
    WriteMode,
)
from tidegate.domain.model.maintenance import (
    Budget,
    Conditions,
    DebtWeights,
    HealthRules,
    Maintenance,
    MaintenanceBackOff,
    OperationPlan,
    Policy,
    Threshold,
    Throttle,
)
from tidegate.domain.model.operation import Operation
from tidegate.domain.model.schedule import (
    Batching,
    OnSuspend,
    OnUpdate,
    OutputPartition,
    Priority,
    Repair,
    Retries,
    Schedule,
)
from tidegate.domain.model.shared import (
    At,
    Calendar,
    Day,
    Deadline,
)
from tidegate.domain.model.triggers.cron import (
    CronTrigger,
)
from tidegate.domain.model.triggers.elapsed import (
    ElapsedTrigger,
)
from tidegate.domain.model.triggers.facts import (
    LeafTrigger,
    TriggerBase,
    WallClock,
)
from tidegate.domain.model.triggers.partitions import (
    PartitionsTrigger,
)
from tidegate.domain.model.triggers.run import (
    RunTrigger,
)
from tidegate.domain.model.triggers.size import (
    SizeTrigger,
)
from tidegate.domain.model.triggers.task import (
    Dependency,
    Select,
    TaskTimes,
    TaskTrigger,
    TaskType,
    TaskUpdate,
)
from tidegate.domain.model.triggers.tree import (
    AllTrigger,
    AnyTrigger,
    AtLeastTrigger,
    Composite,
    Leaf,
    SequenceTrigger,
    Trigger,
    child_path,
    leaves,
    leaves_with_existing,
    named_members,
    satisfies_alone,
)
