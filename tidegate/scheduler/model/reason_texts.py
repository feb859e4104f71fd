"""What each reason code means in full, and what to do: the text of `tidegate explain` and docs/reasons.md.

The short explanation of a code is its `Reason.summary`. The first letter says whether the job waits, was
discarded or has failed.
"""

from tidegate.scheduler.model.reason import CodeText, Reason

REASON_TEXTS: dict[Reason, CodeText] = {
    Reason.W_TRIGGER: CodeText(
        cause="its trigger is not satisfied yet",
        remedy="the missing events, or the end of `wait_at_most`",
    ),
    Reason.W_QUIET: CodeText(
        cause="its trigger waits for its `quiet` time without new events",
        remedy="time without an event, or the end of `quiet_at_most`",
    ),
    Reason.W_TIME: CodeText(
        cause="the start time of the instance has not come",
        remedy="time",
    ),
    Reason.W_UPSTREAM: CodeText(
        cause="an upstream instance is not successful; in a backfill also one of the lot before",
        remedy="its success: `why` follows the chain to the instance that has failed, is paused or was"
        " not reported",
    ),
    Reason.W_REPORT: CodeText(
        cause="the instance waits for a report from outside: a source with `update: outside`, or an"
        " external task",
        remedy="`tidegate report`, or an event of the source's dataset for its business date",
    ),
    Reason.W_RETRY: CodeText(
        cause="its run failed, and the pause before the next attempt has not passed (`retries`)",
        remedy="time, or `tidegate jobs retry`",
    ),
    Reason.W_DELAY: CodeText(
        cause="the `delay` after the trigger has not passed",
        remedy="time",
    ),
    Reason.W_WINDOW: CodeText(
        cause="the launch `window` is closed",
        remedy="the window's next opening",
    ),
    Reason.W_LAST_RUN: CodeText(
        cause="the program's last run is too recent, or a run is active (`since_last_run`)",
        remedy="time, or the end of that run",
    ),
    Reason.W_RATE: CodeText(
        cause="its program has reached its launch `rate`",
        remedy="time: the oldest of these launches leaves the period",
    ),
    Reason.W_LOAD: CodeText(
        cause="too many active runs, or a gauge above its limit (`load`)",
        remedy="the end of a run, or a lower report of the gauge",
    ),
    Reason.W_LOCATION: CodeText(
        cause="the Dagster code location of the job (`job:`) is not loaded, or its server does not answer; it"
        " holds no slot meanwhile",
        remedy="loading it: `why` says the error; once the location is back the job is launched",
    ),
    Reason.W_HOST: CodeText(
        cause="the job (`job:`) is in another code location than the dispatcher, or Dagster has no queue of"
        " runs, and no host is active",
        remedy="`tidegate host`",
    ),
    Reason.W_CONCURRENCY: CodeText(
        cause="all slots of the program or group are taken (`concurrency`)",
        remedy="the end of one of the runs that `why` names",
    ),
    Reason.W_PARTITION: CodeText(
        cause="another instance writes the same partition of the same dataset, or another job of the schedule"
        " has the same key: one of a backfill and one that is not never run at once",
        remedy="the end of that instance or job",
    ),
    Reason.W_HELD: CodeText(
        cause="its schedule is suspended and holds its jobs (`on_suspend: hold` or `backlog`)",
        remedy="`tidegate schedules resume`",
    ),
    Reason.M_TABLE: CodeText(
        cause="another operation of the table runs",
        remedy="its end; `why` names its job",
    ),
    Reason.M_WINDOW: CodeText(
        cause="the window of the operation is closed",
        remedy="the window's next opening",
    ),
    Reason.M_BACKOFF: CodeText(
        cause="it has failed too often in a row on this table (`backoff`)",
        remedy="time; or a success by hand, with `tidegate maintenance run`",
    ),
    Reason.M_THROTTLE: CodeText(
        cause="it has changed nothing too often in a row on this table (`throttle`)",
        remedy="time: then one probe runs; or a run by hand that changes something",
    ),
    Reason.M_HEALTH: CodeText(
        cause="the health of the table could not be measured yet",
        remedy="a measurement, which a run in Dagster makes; `tidegate maintenance status` shows why the"
        " last one failed",
    ),
    Reason.M_INTERVAL: CodeText(
        cause="the last successful run is less than `min_interval` ago",
        remedy="time",
    ),
    Reason.M_CONDITION: CodeText(
        cause="the thresholds of `when` are not reached",
        remedy="a measurement that reaches them, or the instant of `at_latest`",
    ),
    Reason.M_BUSY: CodeText(
        cause="pipelines write every partition of the table",
        remedy="the end of one of the jobs that `why` names",
    ),
    Reason.M_BUDGET: CodeText(
        cause="the budget of the poll or of the hour is spent",
        remedy="the next poll, or the next full hour",
    ),
    Reason.M_PLACES: CodeText(
        cause="a run of a pipeline is queued, or less than half of the places for runs"
        " (`max_concurrent_runs` of dagster.yaml) are free; an operation or a measurement takes none then",
        remedy="the end of a run; `why` has the numbers",
    ),
    Reason.D_DELAY: CodeText(
        cause="the delay had not passed, and the constraint says `otherwise: skip`",
        remedy="`otherwise: wait`",
    ),
    Reason.D_WINDOW: CodeText(
        cause="it was ready outside the window, and the constraint says `otherwise: skip`",
        remedy="`otherwise: wait`",
    ),
    Reason.D_LAST_RUN: CodeText(
        cause="it was ready too soon after the last run, and the constraint says `otherwise: skip`",
        remedy="`otherwise: wait`",
    ),
    Reason.D_RATE: CodeText(
        cause="the program had reached its launch `rate`, and the constraint says `otherwise: skip`",
        remedy="`otherwise: wait`, or a higher `max`",
    ),
    Reason.D_LOAD: CodeText(
        cause="the `load` was above its limit, and the constraint says `otherwise: skip`",
        remedy="`otherwise: wait`, or a higher limit",
    ),
    Reason.D_CONCURRENCY: CodeText(
        cause="no slot was free, and the constraint says `otherwise: skip`",
        remedy="`otherwise: wait`, or a larger `max`",
    ),
    Reason.D_TIMEOUT: CodeText(
        cause="its constraints were not met within `timeout.after` (24 h unless stated)",
        remedy="a longer timeout, or `then: run`",
    ),
    Reason.D_SUSPENDED: CodeText(
        cause="its schedule is suspended",
        remedy="`tidegate schedules resume`; `on_suspend: hold` keeps the waiting jobs, `backlog` also"
        " new events",
    ),
    Reason.D_UPDATED: CodeText(
        cause="a deployment changed its schedule, which starts again; or the event came before the"
        " deployment that created it",
        remedy="`on_update: carry` keeps the events that the new trigger listens to; `tidegate plan`"
        " lists the waiting jobs",
    ),
    Reason.D_DELETED: CodeText(
        cause="a deploy deleted its schedule; of an operation: its policy was deleted, disabled or"
        " outranked, or the table is gone",
        remedy="`tidegate plan` lists the waiting jobs before the deployment",
    ),
    Reason.D_EXPIRED: CodeText(
        cause="the fire was missed while the scheduler was down, and `catch_up` does not count it; or"
        " the event came longer ago than `collect_within`; a job that has lost all its events in"
        " this way",
        remedy="`catch_up: all`, or a longer `catch_up_at_most`; a longer `collect_within`",
    ),
    Reason.D_NO_KEY: CodeText(
        cause="a cron of a `for_each` schedule fired while no key had a waiting job",
        remedy="nothing: no data had arrived",
    ),
    Reason.D_REPAIR: CodeText(
        cause="the last launched job of its key is provisional, and the event came after `within`, or after"
        " `at_most` repairs: launched alone it would replace what is there by the late part",
        remedy="`tidegate events replay`, or `tidegate schedules trigger` with its key, brings it: the next"
        " job sees it beside what came before; or a longer `within` or a higher `at_most` of `repair`",
    ),
    Reason.D_REPAIRED: CodeText(
        cause="it was provisional, and before it had a run a job was launched that has its events too: its"
        " run would replace newer rows",
        remedy="nothing: `tidegate why` names the job that repairs it",
    ),
    Reason.D_KEY: CodeText(
        cause="the event's partition key does not fit the dataset's partitions, or its period had not begun",
        remedy="correct the sender, or the dataset's `partitions`",
    ),
    Reason.D_CANCELLED: CodeText(
        cause="a person cancelled it (`tidegate jobs cancel`)",
        remedy="`tidegate schedules trigger`",
    ),
    Reason.L_DEADLINE: CodeText(
        cause="the job had not succeeded when the `deadline` of its schedule or task passed; it goes on",
        remedy="`tidegate why` says what it waits for",
    ),
    Reason.L_DATASET: CodeText(
        cause="a period of the dataset, or its next update, had not landed when its `deadline` passed",
        remedy="`tidegate late` names what is missing; `tidegate report`, if it is there",
    ),
    Reason.F_REPORTED: CodeText(
        cause="the instance of a source or an external task was reported as failed",
        remedy="`tidegate report … --status successful`, once the data is there",
    ),
    Reason.F_LAUNCH: CodeText(
        cause="no run could be created after several offers: a dead letter",
        remedy="`tidegate jobs show` has the error; then `tidegate jobs requeue`",
    ),
    Reason.F_RUN: CodeText(
        cause="its run failed, and no further attempt follows ([rule 26](rules.md#26-further-attempts))",
        remedy="`tidegate why` has the error; then `tidegate jobs retry`. An operation on a table runs"
        " again when it is due",
    ),
    Reason.F_CHECK: CodeText(
        cause="a check with `severity: block` failed in the rows of its run, so its publish is withheld:"
        " readers see nothing of it, and no further attempt follows",
        remedy="`tidegate commits show` has the checks; then `tidegate commits release`, `tidegate commits"
        " abandon`, or `tidegate jobs retry` once the cause is corrected",
    ),
    Reason.F_CANCELLED: CodeText(
        cause="its run was cancelled",
        remedy="`trigger`, if it is still wanted",
    ),
    Reason.F_TIMEOUT: CodeText(
        cause="the operation on the table took longer than its `timeout`",
        remedy="a longer `timeout`, or fewer files at once: a run continues where the last one has committed",
    ),
    Reason.F_CONFLICT: CodeText(
        cause="not a failure: another writer of the table was faster each time",
        remedy="nothing: the operation is due again soon; a window in which nothing writes helps",
    ),
    Reason.F_YIELDED: CodeText(
        cause="not a failure: the operation made room for a job of high priority",
        remedy="nothing: it continues with what is left",
    ),
}
