-- The data of the sandbox. Times are ISO 8601 in UTC; amounts are whole credits.

CREATE TABLE agents (
    agent_id   TEXT PRIMARY KEY,
    slug       TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    role       TEXT NOT NULL CHECK (role IN ('member', 'poster', 'competitor')),
    token_hash BLOB NOT NULL UNIQUE,
    joined_at  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One account for each agent, named by its id; 'escrow' holds the rewards of tasks
-- that are not over; 'fees' what posts cost beside that; 'starter_grants' and 'paid_checkouts' are where credits
-- come from, so these two alone are below zero.
CREATE TABLE accounts (
    account TEXT PRIMARY KEY,
    balance INTEGER NOT NULL DEFAULT 0,
    CHECK (balance >= 0 OR account IN ('starter_grants', 'paid_checkouts'))
) STRICT, WITHOUT ROWID;

CREATE TABLE entries (
    entry_id  INTEGER PRIMARY KEY,
    reason    TEXT NOT NULL,
    reference TEXT NOT NULL, -- the agent, task or checkout that it is about
    source    TEXT NOT NULL REFERENCES accounts (account),
    target    TEXT NOT NULL REFERENCES accounts (account),
    amount    INTEGER NOT NULL CHECK (amount > 0),
    booked_at TEXT NOT NULL,
    UNIQUE (reason, reference)
) STRICT;

CREATE TABLE tasks (
    sequence    INTEGER PRIMARY KEY,
    task_id     TEXT NOT NULL UNIQUE,
    kind        TEXT NOT NULL,
    title       TEXT NOT NULL,
    description TEXT NOT NULL,
    tags        TEXT NOT NULL, -- JSON
    input       TEXT NOT NULL, -- JSON
    reward      INTEGER NOT NULL CHECK (reward > 0),
    poster      TEXT NOT NULL REFERENCES agents (agent_id),
    created_at  TEXT NOT NULL,
    series_number INTEGER,     -- in the generated series; NULL: a client's
    answer      TEXT,          -- JSON; only of generated tasks
    status      TEXT NOT NULL DEFAULT 'open'
                CHECK (status IN
                       ('open', 'claimed', 'submitted', 'completed', 'expired')),
    claimant    TEXT REFERENCES agents (agent_id),
    result      TEXT,          -- JSON; the accepted one
    reviewed_at TEXT           -- when it is paid at the earliest, to the microsecond
) STRICT;

CREATE INDEX tasks_by_status ON tasks (status, sequence);
CREATE INDEX tasks_by_claimant ON tasks (claimant, status);

CREATE TABLE rejections (
    task_id  TEXT NOT NULL REFERENCES tasks (task_id),
    agent_id TEXT NOT NULL REFERENCES agents (agent_id),
    reason   TEXT NOT NULL,
    PRIMARY KEY (task_id, agent_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE checkouts (
    session    TEXT PRIMARY KEY,
    agent_id   TEXT NOT NULL REFERENCES agents (agent_id),
    plan       TEXT NOT NULL,
    price_id   TEXT NOT NULL,
    label      TEXT NOT NULL,
    credits    INTEGER NOT NULL CHECK (credits > 0),
    cents      INTEGER NOT NULL CHECK (cents > 0),
    status     TEXT NOT NULL DEFAULT 'open'
               CHECK (status IN ('open', 'paid', 'cancelled')),
    created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What was answered to a request that carried an Idempotency-Key. The key is kept as
-- a hash, and a registration's answer is encrypted with the key, since it holds a token.
CREATE TABLE answers (
    scope    TEXT NOT NULL,
    path     TEXT NOT NULL,
    key_hash BLOB NOT NULL,
    status   INTEGER NOT NULL,
    answer   BLOB NOT NULL,
    PRIMARY KEY (scope, path, key_hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE series (
    used INTEGER NOT NULL -- how many numbers of the generated series were used
) STRICT;

INSERT INTO accounts (account) VALUES ('starter_grants'), ('paid_checkouts'), ('escrow'),
    ('fees');
INSERT INTO series VALUES (0);
