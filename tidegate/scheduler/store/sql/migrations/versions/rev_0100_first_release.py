"""The schema of the first release, in SQL with fixed types: later changes of the tables leave it as it is.

`{name}` is a text that is compared by code points, as SQLite does by itself; `{serial}` a number that the
database hands out. What a later version needs is a revision of its own after this one.
"""

from alembic import op

revision = "0100"
down_revision = None

TYPES = {
    "sqlite": {
        "name": "TEXT",
        # Without AUTOINCREMENT the number of a deleted last row would be given again.
        "serial": "INTEGER NOT NULL CONSTRAINT pk_journal PRIMARY KEY AUTOINCREMENT",
        "bytes": "BLOB",
        "double": "DOUBLE",
        "without_rowid": "WITHOUT ROWID",
    },
    "postgresql": {
        "name": 'TEXT COLLATE "C"',
        "serial": "BIGSERIAL NOT NULL CONSTRAINT pk_journal PRIMARY KEY",
        "bytes": "BYTEA",
        "double": "DOUBLE PRECISION",
        "without_rowid": "",
    },
}
OF_SEQUENCE = "FOREIGN KEY (sequence) REFERENCES commit_sequences (id) ON DELETE CASCADE"

DEPLOYED = """
CREATE TABLE apps (
    name {name} NOT NULL, spec TEXT NOT NULL, revision INTEGER NOT NULL, deployed_at BIGINT NOT NULL,
    project {name} NOT NULL, namespace {name} NOT NULL, CONSTRAINT pk_apps PRIMARY KEY (name)
);
CREATE TABLE schedules (
    ref {name} NOT NULL, app {name} NOT NULL, spec TEXT NOT NULL, fingerprint TEXT NOT NULL,
    status TEXT NOT NULL, changed_by TEXT NOT NULL, active_since BIGINT, fires_after BIGINT,
    next_fire_at BIGINT, deployed_at BIGINT NOT NULL, clocks TEXT NOT NULL, revision INTEGER NOT NULL,
    source TEXT NOT NULL, overridden BOOLEAN NOT NULL, suspended_at BIGINT, program {name} NOT NULL,
    trigger_kind TEXT NOT NULL, due_at BIGINT, generate_at BIGINT, deadline_of {name},
    CONSTRAINT pk_schedules PRIMARY KEY (ref)
);
CREATE INDEX ix_schedules_app ON schedules (app, ref);
CREATE INDEX ix_schedules_app_status ON schedules (app, status);
CREATE INDEX ix_schedules_deadline ON schedules (deadline_of) WHERE deadline_of IS NOT NULL;
CREATE INDEX ix_schedules_due ON schedules (due_at, ref) WHERE due_at IS NOT NULL;
CREATE INDEX ix_schedules_generate ON schedules (generate_at, ref) WHERE generate_at IS NOT NULL;
CREATE TABLE subscriptions (
    event_key {name} NOT NULL, schedule {name} NOT NULL, leaf {name} NOT NULL,
    CONSTRAINT pk_subscriptions PRIMARY KEY (event_key, schedule, leaf)
);
CREATE INDEX ix_subscriptions_schedule ON subscriptions (schedule);
CREATE TABLE specifications (
    ref {name} NOT NULL, number BIGINT NOT NULL, content TEXT NOT NULL, app {name} NOT NULL,
    CONSTRAINT pk_specifications PRIMARY KEY (ref, number)
);
CREATE INDEX ix_specifications_app ON specifications (app, number);
CREATE INDEX ix_specifications_number ON specifications (number);
CREATE TABLE overrides (
    ref {name} NOT NULL, kind {name} NOT NULL, app {name} NOT NULL, owner TEXT NOT NULL,
    reason TEXT NOT NULL, since BIGINT NOT NULL, expires_at BIGINT, spec TEXT, status TEXT,
    CONSTRAINT pk_overrides PRIMARY KEY (ref, kind)
);
CREATE INDEX ix_overrides_app ON overrides (app);
CREATE INDEX ix_overrides_expires ON overrides (expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE tokens (
    name {name} NOT NULL, hash TEXT NOT NULL, role TEXT NOT NULL, app {name}, namespace {name},
    created_at BIGINT NOT NULL, revoked_at BIGINT, CONSTRAINT pk_tokens PRIMARY KEY (name)
)
"""
"""What is deployed, who changed it beside the YAML, and who may."""

EVENTS = """
CREATE TABLE events (
    id {name} NOT NULL, kind TEXT NOT NULL, "key" {name} NOT NULL, time BIGINT NOT NULL,
    arrived BIGINT NOT NULL, "partition" {name}, bytes BIGINT, rows BIGINT, run_id {name}, status TEXT,
    scheduled_for BIGINT, day TEXT, run TEXT, own_job BOOLEAN NOT NULL, expired BOOLEAN NOT NULL,
    number INTEGER NOT NULL, first_at BIGINT, origin {name}, only_for {name}, detail TEXT NOT NULL,
    unrouted_since BIGINT, CONSTRAINT pk_events PRIMARY KEY (id)
);
CREATE INDEX ix_events_arrived ON events (arrived, id);
CREATE INDEX ix_events_key ON events ("key", arrived, id);
CREATE INDEX ix_events_partition ON events ("key", "partition", arrived) WHERE "partition" IS NOT NULL;
CREATE INDEX ix_events_unrouted ON events (unrouted_since, id) WHERE unrouted_since IS NOT NULL;
CREATE TABLE deliveries (
    job {name} NOT NULL, event {name} NOT NULL, schedule {name} NOT NULL, leaf {name} NOT NULL, reason TEXT,
    at BIGINT NOT NULL, arrived BIGINT NOT NULL,
    CONSTRAINT pk_deliveries PRIMARY KEY (job, event, schedule, leaf)
);
CREATE INDEX ix_deliveries_discarded ON deliveries (schedule, arrived, event, job, reason)
    WHERE reason IS NOT NULL;
CREATE INDEX ix_deliveries_event ON deliveries (event);
CREATE INDEX ix_deliveries_schedule ON deliveries (schedule, arrived, event, job, reason);
CREATE TABLE counted_events (
    job {name} NOT NULL, leaf {name} NOT NULL, arrived BIGINT NOT NULL, event {name} NOT NULL,
    CONSTRAINT pk_counted_events PRIMARY KEY (job, leaf, arrived, event)
);
CREATE TABLE tallies (
    job {name} NOT NULL, basis TEXT NOT NULL, tally TEXT NOT NULL, CONSTRAINT pk_tallies PRIMARY KEY (job)
);
CREATE TABLE tallied_keys (
    job {name} NOT NULL, "key" {name} NOT NULL, leaf {name} NOT NULL, amount BIGINT NOT NULL,
    CONSTRAINT pk_tallied_keys PRIMARY KEY (job, key, leaf)
);
CREATE TABLE gauges (
    name {name} NOT NULL, value {double} NOT NULL, reported_at BIGINT NOT NULL,
    CONSTRAINT pk_gauges PRIMARY KEY (name)
);
CREATE TABLE partitions_reports (
    id {name} NOT NULL, project {name} NOT NULL, dataset {name} NOT NULL, asked TEXT NOT NULL,
    detail TEXT NOT NULL, partitions TEXT NOT NULL, at BIGINT NOT NULL, owed_since BIGINT,
    sent INTEGER NOT NULL, CONSTRAINT pk_partitions_reports PRIMARY KEY (id)
);
CREATE INDEX ix_partitions_reports_at ON partitions_reports (at);
CREATE INDEX ix_partitions_reports_owed ON partitions_reports (project, owed_since);
CREATE TABLE watched_folders (
    dataset {name} NOT NULL, project {name} NOT NULL, folder TEXT NOT NULL, since BIGINT,
    problem TEXT NOT NULL, remedy TEXT NOT NULL, problem_since BIGINT,
    CONSTRAINT pk_watched_folders PRIMARY KEY (dataset)
);
CREATE TABLE watched_partitions (
    dataset {name} NOT NULL, "key" {name} NOT NULL, files TEXT NOT NULL, at BIGINT NOT NULL,
    CONSTRAINT pk_watched_partitions PRIMARY KEY (dataset, key)
);
CREATE TABLE expected_data (
    dataset {name} NOT NULL, deadline TEXT NOT NULL, partitions TEXT, zone {name} NOT NULL,
    since BIGINT NOT NULL, updated_at BIGINT, period {name} NOT NULL, due_at BIGINT,
    CONSTRAINT pk_expected_data PRIMARY KEY (dataset)
);
CREATE INDEX ix_expected_data_due ON expected_data (due_at, dataset) WHERE due_at IS NOT NULL;
CREATE TABLE expected_periods (
    dataset {name} NOT NULL, period {name} NOT NULL, landed TEXT NOT NULL, due_at BIGINT, late_at BIGINT,
    missing TEXT NOT NULL, landed_at BIGINT, app {name} NOT NULL, was_late BIGINT, is_late BIGINT,
    CONSTRAINT pk_expected_periods PRIMARY KEY (dataset, period)
);
CREATE INDEX ix_expected_periods_late ON expected_periods (was_late, dataset, period)
    WHERE was_late IS NOT NULL;
CREATE INDEX ix_expected_periods_late_now ON expected_periods (is_late, dataset, period)
    WHERE is_late IS NOT NULL;
CREATE INDEX ix_expected_periods_late_of ON expected_periods (dataset, was_late)
    WHERE was_late IS NOT NULL;
CREATE TABLE late_totals (
    kind {name} NOT NULL, name {name} NOT NULL, number BIGINT NOT NULL,
    CONSTRAINT pk_late_totals PRIMARY KEY (kind, name)
);
CREATE TABLE alerts (
    id {name} NOT NULL, project {name} NOT NULL, channel {name} NOT NULL, kind TEXT NOT NULL,
    subject {name} NOT NULL, message TEXT NOT NULL, made_at BIGINT NOT NULL, state TEXT NOT NULL,
    tries INTEGER NOT NULL, next_at BIGINT, error TEXT NOT NULL, ended_at BIGINT,
    CONSTRAINT pk_alerts PRIMARY KEY (id)
);
CREATE INDEX ix_alerts_due ON alerts (project, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX ix_alerts_made ON alerts (project, made_at, id);
CREATE TABLE incidents (
    id {name} NOT NULL, project {name} NOT NULL, kind TEXT NOT NULL, subject {name} NOT NULL,
    opened_at BIGINT NOT NULL, count INTEGER NOT NULL, said INTEGER NOT NULL, alarmed BOOLEAN NOT NULL,
    open TEXT NOT NULL, last TEXT NOT NULL, quiet_until BIGINT NOT NULL,
    CONSTRAINT pk_incidents PRIMARY KEY (id)
)
"""
"""What happened, what listens for it, and what is looked at or expected."""

JOBS = """
CREATE TABLE jobs (
    id {name} NOT NULL, app {name} NOT NULL, schedule {name} NOT NULL, "key" {name} NOT NULL,
    fingerprint TEXT NOT NULL, state TEXT NOT NULL, reason TEXT, priority TEXT NOT NULL,
    opened_at BIGINT NOT NULL, first_event_at BIGINT, satisfied_at BIGINT, next_check_at BIGINT,
    blocked_on {name}, needs TEXT NOT NULL, by_hand TEXT, attempt INTEGER NOT NULL, offers INTEGER NOT NULL,
    offered_at BIGINT, rejected INTEGER NOT NULL, gave_back BOOLEAN NOT NULL, run_id {name}, launch TEXT,
    resources TEXT NOT NULL, decided_at BIGINT, launched_at BIGINT, ended_at BIGINT,
    closed BOOLEAN NOT NULL, retried INTEGER NOT NULL, retry_at BIGINT, raised BOOLEAN NOT NULL,
    failed_run TEXT, recovered BOOLEAN NOT NULL, held_at BIGINT, held_for BIGINT NOT NULL, instance TEXT,
    maintenance TEXT, "commit" INTEGER NOT NULL, detail TEXT NOT NULL, late_at BIGINT, due_at BIGINT,
    backfill INTEGER, scheduled_at BIGINT, real_at BIGINT, late_of {name}, queue {name}, launch_rank {name},
    CONSTRAINT pk_jobs PRIMARY KEY (id)
);
CREATE INDEX ix_jobs_app_state ON jobs (app, state, reason, opened_at);
CREATE INDEX ix_jobs_backfill ON jobs (backfill) WHERE backfill > 0;
CREATE INDEX ix_jobs_blocked_on ON jobs (blocked_on, state) WHERE blocked_on IS NOT NULL;
CREATE INDEX ix_jobs_due ON jobs (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX ix_jobs_ended ON jobs (state, ended_at, schedule, opened_at, launched_at)
    WHERE ended_at IS NOT NULL;
CREATE INDEX ix_jobs_instances ON jobs (schedule, backfill, scheduled_at) WHERE scheduled_at IS NOT NULL;
CREATE INDEX ix_jobs_late ON jobs (late_of) WHERE late_of IS NOT NULL;
CREATE INDEX ix_jobs_opened ON jobs (opened_at, id);
CREATE INDEX ix_jobs_queue ON jobs (queue, launch_rank) WHERE queue IS NOT NULL;
CREATE INDEX ix_jobs_real ON jobs (schedule, backfill, real_at) WHERE real_at IS NOT NULL;
CREATE INDEX ix_jobs_reason ON jobs (reason, opened_at, id) WHERE reason IS NOT NULL;
CREATE INDEX ix_jobs_schedule_state ON jobs (schedule, state, opened_at);
CREATE INDEX ix_jobs_state ON jobs (state, opened_at);
CREATE TABLE edges (
    upstream {name} NOT NULL, job {name} NOT NULL, CONSTRAINT pk_edges PRIMARY KEY (upstream, job)
);
CREATE INDEX ix_edges_job ON edges (job);
CREATE TABLE queues (
    resource {name} NOT NULL, queue {name} NOT NULL, woken_at BIGINT,
    CONSTRAINT pk_queues PRIMARY KEY (resource, queue)
);
CREATE INDEX ix_queues_queue ON queues (queue);
CREATE INDEX ix_queues_woken ON queues (woken_at, queue) WHERE woken_at IS NOT NULL;
CREATE TABLE slots (
    resource {name} NOT NULL, holder {name} NOT NULL, CONSTRAINT pk_slots PRIMARY KEY (resource, holder)
);
CREATE INDEX ix_slots_holder ON slots (holder);
CREATE TABLE launches (
    holder {name} NOT NULL, program {name} NOT NULL, at BIGINT NOT NULL,
    CONSTRAINT pk_launches PRIMARY KEY (holder)
);
CREATE INDEX ix_launches_at ON launches (at, holder);
CREATE INDEX ix_launches_program ON launches (program, at);
CREATE TABLE runs (
    run_id {name} NOT NULL, program {name} NOT NULL, job {name}, attempt INTEGER, status TEXT NOT NULL,
    seen_at BIGINT NOT NULL, started_at BIGINT, ended_at BIGINT, CONSTRAINT pk_runs PRIMARY KEY (run_id)
);
CREATE INDEX ix_runs_history ON runs (program, status, ended_at, run_id);
CREATE INDEX ix_runs_job ON runs (job);
CREATE INDEX ix_runs_seen ON runs (seen_at, run_id);
CREATE INDEX ix_runs_started ON runs (program, status, started_at);
CREATE INDEX ix_runs_status ON runs (status, seen_at);
CREATE TABLE claims (
    job {name} NOT NULL, attempt INTEGER NOT NULL, run_id {name} NOT NULL, at BIGINT NOT NULL,
    CONSTRAINT pk_claims PRIMARY KEY (job, attempt)
)
"""
"""What waits and what runs."""

MAINTENANCE = """
CREATE TABLE maintained_tables (
    name {name} NOT NULL, catalog_name {name} NOT NULL, dataset {name}, health_policy {name},
    gone BOOLEAN NOT NULL, health TEXT, changed_at BIGINT, wanted_at BIGINT, history TEXT NOT NULL,
    CONSTRAINT pk_maintained_tables PRIMARY KEY (name)
);
CREATE INDEX ix_maintained_tables_wanted ON maintained_tables (wanted_at, name)
    WHERE wanted_at IS NOT NULL;
CREATE TABLE maintenance_records (
    policy {name} NOT NULL, operation TEXT NOT NULL, "table" {name} NOT NULL, seen_at BIGINT NOT NULL,
    counts BOOLEAN NOT NULL, next_run BIGINT, due_since BIGINT, last_start BIGINT, next_look BIGINT,
    job {name}, reason TEXT, CONSTRAINT pk_maintenance_records PRIMARY KEY (policy, operation, "table")
);
CREATE INDEX ix_maintenance_records_look ON maintenance_records (next_look, "table", operation, policy)
    WHERE next_look IS NOT NULL;
CREATE INDEX ix_maintenance_records_table ON maintenance_records ("table");
CREATE TABLE operation_runs (
    job {name} NOT NULL, "table" {name} NOT NULL, operation TEXT NOT NULL, policy {name} NOT NULL,
    by_hand BOOLEAN NOT NULL, probe BOOLEAN NOT NULL, forced BOOLEAN NOT NULL, excluded TEXT NOT NULL,
    started_at BIGINT NOT NULL, closes_at BIGINT NOT NULL, ended_at BIGINT, ending TEXT,
    changed BOOLEAN NOT NULL, bytes BIGINT NOT NULL, "before" TEXT NOT NULL, "after" TEXT NOT NULL,
    results TEXT NOT NULL, detail TEXT NOT NULL, running_until BIGINT,
    CONSTRAINT pk_operation_runs PRIMARY KEY (job)
);
CREATE INDEX ix_operation_runs_ended ON operation_runs (ended_at);
CREATE INDEX ix_operation_runs_running ON operation_runs (running_until) WHERE running_until IS NOT NULL;
CREATE INDEX ix_operation_runs_started ON operation_runs (started_at, job);
CREATE INDEX ix_operation_runs_table ON operation_runs ("table", started_at)
"""
"""Operations on tables."""

HISTORY = """
CREATE TABLE journal (
    number {serial}, at BIGINT NOT NULL, kind TEXT NOT NULL, schedule {name}, job {name}, run_id {name},
    event {name}, reason TEXT, data TEXT NOT NULL
);
CREATE INDEX ix_journal_at ON journal (at);
CREATE INDEX ix_journal_deployments ON journal (number) WHERE kind = 'deploy';
CREATE INDEX ix_journal_job ON journal (job, number);
CREATE INDEX ix_journal_renames ON journal (number) WHERE kind = 'rename';
CREATE INDEX ix_journal_schedule ON journal (schedule, number);
CREATE TABLE totals (
    kind {name} NOT NULL, place {name} NOT NULL, label {name} NOT NULL, reason {name} NOT NULL,
    number BIGINT NOT NULL, CONSTRAINT pk_totals PRIMARY KEY (kind, place, label, reason)
) {without_rowid};
CREATE TABLE pruned (
    kind {name} NOT NULL, id {name} NOT NULL, CONSTRAINT pk_pruned PRIMARY KEY (kind, id)
) {without_rowid};
CREATE TABLE ledger_sums (
    schedule {name} NOT NULL, day DATE NOT NULL, outcome {name} NOT NULL, reason {name} NOT NULL,
    events BIGINT NOT NULL, CONSTRAINT pk_ledger_sums PRIMARY KEY (schedule, day, outcome, reason)
);
CREATE TABLE snapshots (
    number BIGINT NOT NULL, at BIGINT NOT NULL, state {bytes} NOT NULL,
    CONSTRAINT pk_snapshots PRIMARY KEY (number)
);
CREATE INDEX ix_snapshots_at ON snapshots (at);
CREATE TABLE cursors (
    name {name} NOT NULL, value TEXT NOT NULL, CONSTRAINT pk_cursors PRIMARY KEY (name)
)
"""
"""What was: the journal, totals, and what pruning keeps."""

COMMITS = """
CREATE TABLE commit_sequences (
    id TEXT NOT NULL, token BIGINT NOT NULL, datasets TEXT NOT NULL, body TEXT NOT NULL, result TEXT,
    checksum VARCHAR(64) NOT NULL, CONSTRAINT pk_commit_sequences PRIMARY KEY (id)
);
CREATE INDEX ix_commit_sequences_unfinished ON commit_sequences (token) WHERE result IS NULL;
CREATE TABLE commit_datasets (
    dataset TEXT NOT NULL, sequence TEXT NOT NULL,
    CONSTRAINT pk_commit_datasets PRIMARY KEY (dataset, sequence),
    CONSTRAINT fk_commit_datasets_sequence_commit_sequences {of_sequence}
);
CREATE TABLE commit_tokens (
    id INTEGER NOT NULL, value BIGINT NOT NULL, CONSTRAINT pk_commit_tokens PRIMARY KEY (id)
);
CREATE TABLE commit_attempts (
    token BIGINT NOT NULL, commit_id TEXT NOT NULL, datasets TEXT NOT NULL, until BIGINT NOT NULL,
    CONSTRAINT pk_commit_attempts PRIMARY KEY (token)
);
CREATE TABLE commit_owners (
    sequence TEXT NOT NULL, owner TEXT NOT NULL, until BIGINT, failures INTEGER NOT NULL,
    error TEXT NOT NULL, failed_at BIGINT, CONSTRAINT pk_commit_owners PRIMARY KEY (sequence),
    CONSTRAINT fk_commit_owners_sequence_commit_sequences {of_sequence}
);
CREATE TABLE commit_moves (
    consumer TEXT NOT NULL, source TEXT NOT NULL, part TEXT NOT NULL, sequence TEXT NOT NULL,
    CONSTRAINT pk_commit_moves PRIMARY KEY (consumer, source, part),
    CONSTRAINT fk_commit_moves_sequence_commit_sequences {of_sequence}
);
CREATE INDEX ix_commit_moves_sequence ON commit_moves (sequence);
CREATE TABLE commit_watermarks (
    consumer TEXT NOT NULL, source TEXT NOT NULL, part TEXT NOT NULL, number BIGINT NOT NULL,
    position TEXT NOT NULL, commit_id TEXT NOT NULL,
    CONSTRAINT pk_commit_watermarks PRIMARY KEY (consumer, source, part)
);
CREATE TABLE commit_abandoned (
    sequence TEXT NOT NULL, token BIGINT NOT NULL, datasets TEXT NOT NULL, body TEXT NOT NULL,
    error TEXT NOT NULL, note TEXT NOT NULL, at BIGINT NOT NULL,
    CONSTRAINT pk_commit_abandoned PRIMARY KEY (sequence)
);
CREATE INDEX ix_commit_abandoned_at ON commit_abandoned (at);
CREATE TABLE commit_outputs (
    sequence TEXT NOT NULL, dataset TEXT NOT NULL, published TEXT, error TEXT NOT NULL, note TEXT NOT NULL,
    at BIGINT NOT NULL, CONSTRAINT pk_commit_outputs PRIMARY KEY (sequence, dataset)
)
"""
"""Publishes (docs/exactly-once.md)."""


def upgrade() -> None:
    """Create every table with its indexes."""
    types = TYPES[op.get_context().dialect.name]
    for room in (DEPLOYED, EVENTS, JOBS, MAINTENANCE, HISTORY, COMMITS):
        for statement in room.format_map({**types, "of_sequence": OF_SEQUENCE}).split(";"):
            op.execute(statement)
