-- One row for each task that a listing ever showed us.
CREATE TABLE tasks (
    task_id     TEXT NOT NULL UNIQUE,
    state       TEXT NOT NULL,
    strategy    TEXT NOT NULL DEFAULT '',
    reason      TEXT NOT NULL DEFAULT '',
    reward      INTEGER NOT NULL,            -- credits, as listed
    fingerprint TEXT NOT NULL,               -- of the record and who judged it
    attempts    INTEGER NOT NULL DEFAULT 0,  -- requests sent for the current intent
    doubts      INTEGER NOT NULL DEFAULT 0,  -- refusals in a row that may be mistaken
    executions  INTEGER NOT NULL DEFAULT 0,  -- times a strategy was started on it
    maybe_sent  INTEGER NOT NULL DEFAULT 0,  -- 1 before the first byte may leave
    next_at     REAL,                        -- due then, in seconds since 1970; NULL: never
    seen_at     TEXT NOT NULL,
    updated_at  TEXT NOT NULL
);
-- What is long and seldom changes, apart: SQLite writes a whole row at each change.
CREATE TABLE task_texts (
    task_id TEXT NOT NULL UNIQUE,
    record  TEXT NOT NULL,                   -- the task as read, JSON
    result  TEXT                             -- JSON; written once, sent as it is
);
CREATE VIEW full_tasks AS
    SELECT tasks.*, tasks.rowid AS number, record, result
    FROM tasks JOIN task_texts USING (task_id);

-- Only tasks that still need something: the hot path stays small as history grows.
CREATE INDEX tasks_open ON tasks (state, reward DESC) WHERE next_at IS NOT NULL;
CREATE INDEX tasks_waiting ON tasks (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX tasks_recent ON tasks (updated_at);

-- The history of each task: how it came to be where it is.
CREATE TABLE task_events (
    event_id INTEGER PRIMARY KEY,
    task_id  TEXT NOT NULL,
    before   TEXT NOT NULL,
    after    TEXT NOT NULL,
    reason   TEXT NOT NULL,
    at       TEXT NOT NULL
);
CREATE INDEX task_events_of ON task_events (task_id);

-- Append-only, hash-chained; `key` makes a replay book nothing twice.
CREATE TABLE ledger (
    entry_id      INTEGER PRIMARY KEY,
    key           TEXT NOT NULL UNIQUE,
    kind          TEXT NOT NULL,
    amount        INTEGER NOT NULL,          -- credits; negative when they leave
    balance       INTEGER NOT NULL,          -- credits, after this entry
    confidence    TEXT NOT NULL,
    subject       TEXT NOT NULL,             -- a task id or a spend id
    strategy      TEXT NOT NULL,
    note          TEXT NOT NULL,
    at            TEXT NOT NULL,
    previous_hash TEXT NOT NULL,
    hash          TEXT NOT NULL
);
CREATE TRIGGER ledger_is_not_changed BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_is_not_deleted BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

-- Posts and top-ups: decided, recorded here, and only then sent.
CREATE TABLE spends (
    spend_id   TEXT NOT NULL UNIQUE,
    kind       TEXT NOT NULL,                -- post or top-up
    state      TEXT NOT NULL,
    credits    INTEGER NOT NULL,             -- that leave (post) or arrive (top-up)
    cents      INTEGER NOT NULL,             -- US cents asked for (top-up)
    strategy   TEXT NOT NULL,                -- who asked; 'owner' for the owner
    request    TEXT NOT NULL,                -- JSON, without any secret
    answer     TEXT NOT NULL DEFAULT '{}',   -- JSON: task id, or checkout address
    reason     TEXT NOT NULL DEFAULT '',
    task_id    TEXT NOT NULL DEFAULT '',     -- of a post that was accepted
    at         TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
CREATE INDEX spends_by_time ON spends (kind, at);
CREATE INDEX spends_by_task ON spends (task_id) WHERE task_id != '';

-- What a strategy remembers from task to task.
CREATE TABLE strategy_states (
    strategy TEXT NOT NULL UNIQUE,
    state    TEXT NOT NULL
);

-- Single facts: the registration intent, totals since the beginning.
CREATE TABLE facts (
    name  TEXT NOT NULL UNIQUE,
    value TEXT NOT NULL
);

-- Running totals, so that no question has to count the whole history.
CREATE TABLE totals (
    name  TEXT NOT NULL UNIQUE,
    value INTEGER NOT NULL
);
